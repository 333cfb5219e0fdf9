import { nothingDone } from '@exactly-once/nestjs';
import { HttpException, Injectable, UnprocessableEntityException } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { InboxEntry } from './inbox-entry.entity.js';

/** The result of a step, or the 4xx that the client gets. */
type StepOutcome = { result?: unknown } | { refusal: { status: number; body: string | object } };

type Work<T> = (manager: EntityManager) => Promise<T>;

/**
 * Makes work in the database repeatable, for records that are not in it. Two attempts of one request may then run beside
 * each other: one whose process was stopped for longer than its lease, and the one that took over. The first that
 * commits decides, and both get its outcome.
 */
@Injectable()
export class Inbox {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @throws UnprocessableEntityException when the key has been used for something else */
  async once<T>(stepKey: string, subject: string, work: Work<T>): Promise<T> {
    const entry = await this.dataSource.transaction(async (manager) => {
      // A process that is stopped in here would keep its locks, and its successor waiting at the insert, for as long.
      await manager.query(`SET LOCAL idle_in_transaction_session_timeout = '30s'`);
      // First of all, since it waits for another attempt that is in here, and then finds what that one has committed.
      if (!(await insert(manager, { stepKey, subject }))) {
        return manager.findOneByOrFail(InboxEntry, { stepKey });
      }
      const outcome = JSON.stringify(await outcomeOf(manager, work));
      await manager.update(InboxEntry, { stepKey }, { outcome });
      return { subject, outcome };
    });
    if (entry.subject !== subject) {
      // The refusal is not kept under the key, or the request that it belongs to could not be repeated.
      throw nothingDone(new UnprocessableEntityException('This key was used for another request.'));
    }
    return unwrap<T>(JSON.parse(entry.outcome!) as StepOutcome);
  }
}

async function insert(
  manager: EntityManager,
  entry: Pick<InboxEntry, 'stepKey' | 'subject'>,
): Promise<boolean> {
  const { raw } = await manager
    .createQueryBuilder()
    .insert()
    .into(InboxEntry)
    .values(entry)
    .orIgnore()
    .returning('step_key')
    .execute();
  return raw.length === 1;
}

/**
 * A refusal leaves nothing of the work (its transaction is a savepoint in the outer one) but is kept: a predecessor that
 * wakes up when there is stock again must not place the order whose client was told that there is none.
 */
async function outcomeOf(manager: EntityManager, work: Work<unknown>): Promise<StepOutcome> {
  try {
    return { result: await manager.transaction(work) };
  } catch (error) {
    if (error instanceof HttpException && error.getStatus() < 500) {
      return { refusal: { status: error.getStatus(), body: error.getResponse() } };
    }
    throw error;
  }
}

function unwrap<T>(outcome: StepOutcome): T {
  if ('refusal' in outcome) {
    throw new HttpException(outcome.refusal.body, outcome.refusal.status);
  }
  return outcome.result as T;
}
