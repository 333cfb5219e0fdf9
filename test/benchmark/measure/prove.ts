import { CREATED, type RunResult } from '../processes/load/answers.js';
import type { Contestant } from '../rig/contestant.js';
import type { Proofs } from '../proofs.js';
import type { Job } from './job.js';

/** Whether the answers are replays: who records no keys executes those of a replay, too. */
function isReplay({ countKeys }: Contestant, { recorded }: Job): boolean {
  return recorded !== undefined && countKeys !== undefined;
}

export function proveAnswers(proofs: Proofs, contestant: Contestant, job: Job, result: RunResult): void {
  const { requests, statuses, replayed } = result;
  const where = `${contestant.name}, ${job.path}`;
  proofs.that(
    'every answer has the status of the handler',
    statuses[CREATED] === requests,
    `${where}: ${JSON.stringify(statuses)} of ${requests} requests; ${contestant.server.printed.slice(-500)}`,
    requests,
  );
  const expected = isReplay(contestant, job) ? requests : 0;
  proofs.that(
    'what is to be replayed is marked as replayed, and nothing else is',
    replayed === expected,
    `${where}: ${replayed} replays of ${requests} requests`,
    expected,
  );
}

export function proveExecutions(
  proofs: Proofs,
  contestant: Contestant,
  job: Job,
  requests: number,
  executions: number,
): void {
  // The plain app has no counter.
  if (!contestant.database) return;
  const expected = isReplay(contestant, job) ? 0 : requests;
  proofs.that(
    'every new key is executed once, and no recorded one again',
    executions === expected,
    `${contestant.name}, ${job.path}: ${executions} executions for ${requests} requests`,
    requests,
  );
}

/** @param expected keys that were used since the contestant was reset */
export async function proveKeys(proofs: Proofs, contestant: Contestant, expected: number): Promise<void> {
  if (!contestant.countKeys) return;
  const found = await contestant.countKeys();
  const statement = 'as many keys are recorded as were used';
  proofs.that(statement, found === expected, `${contestant.name}: ${found} of ${expected}`, expected);
}

/** @param expected effects since the contestant was reset */
export async function proveEffects(proofs: Proofs, contestant: Contestant, expected: number): Promise<void> {
  if (!contestant.database) return;
  const found = await contestant.database.count('orders');
  const statement = 'as many rows are written as handlers were to write';
  proofs.that(statement, found === expected, `${contestant.name}: ${found} of ${expected}`, expected);
}
