import type { QueryResult } from 'pg';
import { BackOff } from '../engine/back-off.js';
import { Deadline } from '../engine/time-limit.js';
import type { CommitResult, TransactionClaim } from '../store/transaction-store.interface.js';
import type { Connections } from './connections.js';
import { limited } from './connections.js';
import { type RecordRow, toExistingRecord } from './record-row.js';
import type { RecordTable } from './record-table.js';
import { endBackend, LOOK_UP_WHEN_OVER_RESULT, lookUpWhenOver } from './transaction-statements.js';

/** Finds out what became of a transaction whose COMMIT was not answered, or was refused. */
export class TransactionFate {
  constructor(
    private readonly connections: Connections,
    private readonly table: RecordTable,
    private readonly claim: TransactionClaim,
  ) {}

  /**
   * The lock on the record is taken, waiting, so the old backend is done with it; then the record tells.
   *
   * @param cause why it is asked
   */
  async ask(cause: unknown, transient: boolean): Promise<CommitResult> {
    const deadline = new Deadline(this.claim.timeLimit);
    const backOff = new BackOff(50, 1_000);
    for (;;) {
      try {
        return this.read(await this.lookUp(deadline), cause, transient);
      } catch {
        if (deadline.left <= 0) {
          return { type: 'unknown', cause };
        }
        await backOff.sleep();
      }
    }
  }

  /**
   * Lets go of the key that a statement still holds whose connection was closed. Without this, retries would be told
   * that the key is in use for as long as the statement runs.
   */
  async endBackend(backend: number): Promise<void> {
    const { id, timeLimit } = this.claim;
    await this.connections.query(endBackend(id, backend), [], timeLimit).catch(() => undefined);
  }

  private async lookUp(deadline: Deadline): Promise<RecordRow | undefined> {
    const results = await this.connections.use(deadline, ({ client }) =>
      client.query(limited(lookUpWhenOver(this.table, this.claim.id), deadline.remaining)),
    );
    return (results as unknown as QueryResult[])[LOOK_UP_WHEN_OVER_RESULT]!.rows[0];
  }

  private read(row: RecordRow | undefined, cause: unknown, transient: boolean): CommitResult {
    const record = toExistingRecord(row);
    if (!record) {
      return { type: 'not-committed', transient, cause };
    }
    return record.owner === this.claim.owner ? { type: 'committed' } : { type: 'lost-race', record };
  }
}
