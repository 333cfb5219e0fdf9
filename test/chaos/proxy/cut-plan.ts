import type { Mode, Store } from '../options.js';
import type { Random } from '../random.js';

/** How a statement ends that makes something durable: a transaction by COMMIT, a write of a lease by itself. */
export type Commit = 'COMMIT' | 'lease write';

/**
 * What becomes of a message that commits, and of its connection:
 *
 * - `lost`: cut off when a part of the message, or nothing of it, has been forwarded
 * - `cut`: forwarded, and cut off at once, while the server is still at work
 * - `late`: cut off at once, and forwarded some time later, as by a network that holds packets back
 * - `unanswered`: forwarded, and cut off when a part of the answer, or nothing of it, has come back
 * - `silent`: forwarded, and the answer does not come; cut off some time later
 */
export type CommitFate = 'lost' | 'cut' | 'late' | 'unanswered' | 'silent';

export interface CommitCut {
  moment: 'commit';
  /** Which messages it waits for. */
  of: readonly Commit[];
  fate: CommitFate;
  /** How much of the message, or of the answer, passes: from 0 up to, and without, 1. */
  part: number;
  /** Milliseconds that a `late` message is held back, or a `silent` connection stays open. */
  delay: number;
}

/** Cuts a connection off between two statements of one transaction. */
export interface StatementCut {
  moment: 'transaction';
  /** How many statements have been answered, BEGIN among them. */
  after: number;
  /** How much of the last answer passes: from 0 up to, and with, 1. */
  part: number;
}

export interface ByteCut {
  moment: 'any';
  direction: 'to the server' | 'to the client';
  /** Which connection, as a fraction of those that are open; or all of them. */
  connection: number | 'all';
  /** How many bytes still pass. */
  bytes: number;
}

/** How connections to where the records are get cut off, and when. */
export type CutPlan = CommitCut | StatementCut | ByteCut;

/** One in five is of the last kind. In Redis nothing is in a transaction. */
const MOMENTS = {
  postgres: ['commit', 'commit', 'commit', 'transaction', 'any'],
  redis: ['commit', 'commit', 'commit', 'commit', 'any'],
} as const;

export function drawCut(random: Random, mode: Mode, store: Store): CutPlan {
  switch (random.pick<CutPlan['moment']>(MOMENTS[store])) {
    case 'commit':
      return {
        moment: 'commit',
        of: drawCommits(random, mode, store),
        fate: random.pick(['lost', 'cut', 'late', 'unanswered', 'unanswered', 'silent']),
        part: random.chance(0.5) ? 0 : random.next(),
        delay: random.integer(1, random.pick([50, 1_500, 7_000])),
      };
    case 'transaction':
      return {
        moment: 'transaction',
        after: random.integer(1, 7),
        part: random.chance(0.7) ? 1 : random.next(),
      };
    case 'any':
      return {
        moment: 'any',
        direction: random.pick(['to the server', 'to the client']),
        connection: random.chance(0.15) ? 'all' : random.next(),
        bytes: random.integer(0, random.pick([20, 400, 4_000])),
      };
  }
}

function drawCommits(random: Random, mode: Mode, store: Store): readonly Commit[] {
  if (store === 'redis') return ['lease write'];
  return mode === 'transaction' ? ['COMMIT'] : random.pick([['COMMIT'], ['lease write'], ['lease write']]);
}
