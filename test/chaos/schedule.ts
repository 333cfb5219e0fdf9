import { createHash } from 'node:crypto';

import type { ChaosOptions, Mode } from './options.js';
import { drawCut, type CutPlan } from './proxy/cut-plan.js';
import { Random } from './random.js';

/** One fault, with everything about it that is drawn. `at` is in milliseconds from the beginning. */
export type ScheduledFault = { at: number } & (
  | { kind: 'kill'; server: number; downFor: number }
  | { kind: 'stall'; server: number; duration: number }
  | { kind: 'restart'; downFor: number }
  | { kind: 'cut'; plan: CutPlan }
);

/** Mean of the milliseconds between two faults of a kind. */
const MEAN_PAUSE = { kill: 6_000, stall: 8_000, restart: 25_000, cut: 700 };

/** Leases are this long in the servers of the harness. */
export const LOCK_TTL_MS = 2_000;

/**
 * All faults of one mode's run, in order. It follows from the seed, the mode, `--store`, `--seconds` and `--servers`;
 * of `--faults` each kind has its own stream, so that leaving one out does not change the others.
 */
export function drawSchedule(options: ChaosOptions, mode: Mode): ScheduledFault[] {
  const end = options.seconds * 1_000;
  const schedule: ScheduledFault[] = [];
  for (const kind of ['kill', 'stall', 'restart', 'cut'] as const) {
    if (!options.faults.has(kind)) continue;
    const random = new Random(options.seed, `${mode}/${kind}`);
    // Short runs get each kind, too.
    const mean = Math.min(MEAN_PAUSE[kind], end / 2);
    for (let at = mean * random.between(0.3, 1); at < end; at += mean * random.between(0.5, 1.5)) {
      schedule.push({ at: Math.round(at), ...draw(kind, random, options, mode) });
    }
  }
  return schedule.toSorted((a, b) => a.at - b.at);
}

/** Two runs with the same text had the same faults. */
export function describeSchedule(schedule: ScheduledFault[]): string {
  const hash = createHash('sha256').update(JSON.stringify(schedule)).digest('hex').slice(0, 8);
  return `${schedule.length} faults (schedule ${hash})`;
}

function draw(kind: ScheduledFault['kind'], random: Random, { servers, store }: ChaosOptions, mode: Mode) {
  switch (kind) {
    case 'kill':
      return { kind, server: random.integer(0, servers - 1), downFor: random.integer(0, 500) };
    case 'stall':
      return {
        kind,
        server: random.integer(0, servers - 1),
        duration: random.integer(LOCK_TTL_MS + 300, LOCK_TTL_MS * 2.5),
      };
    case 'restart':
      return { kind, downFor: random.integer(0, 1_500) };
    case 'cut':
      return { kind, plan: drawCut(random, mode, store) };
  }
}
