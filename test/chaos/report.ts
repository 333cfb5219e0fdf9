import type { RunResult } from './chaos-run.js';
import type { Violation, ViolationKind } from './checks/violation.js';
import type { ChaosOptions } from './options.js';
import { describeTimeline } from './timeline.js';

const MOST_LINES = 10;

/** The worst first: of this kind an intent's timeline is shown. */
const KINDS: readonly ViolationKind[] = ['duplicate', 'lost', 'mismatched', 'stuck'];

/** The line that says whether all is well. */
export function describeVerdict(results: readonly RunResult[]): string {
  const violations = results.flatMap((result) => result.violations);
  const intents = sum(results, ({ workload }) => workload.intents.length);
  const [duplicates, lost, mismatched, stuck] = KINDS.map((kind) => countIntents(violations, kind));
  return `intents ${intents}, duplicates ${duplicates}, lost ${lost}, mismatched ${mismatched}, stuck ${stuck}`;
}

/** One line per fault kind: how many there were, and how many of them hit something. */
export function describeFaults(options: ChaosOptions, results: readonly RunResult[], skew: string): string[] {
  const { faults } = options;
  const lines: string[] = [];
  const event = (kind: 'kill' | 'stall' | 'restart') => {
    const all = sum(results, (result) => result.faults[kind].all);
    if (faults.has(kind)) {
      lines.push(`${kind} ${all} (${sum(results, (result) => result.faults[kind].inFlight)} in flight)`);
    }
  };
  event('kill');
  if (faults.has('cut')) {
    const [all, inCommit, inLeaseWrite] = (['all', 'inCommit', 'inLeaseWrite'] as const).map((count) =>
      sum(results, ({ cuts }) => cuts[count]),
    );
    lines.push(
      `cut ${all}` +
        // There is none in Redis.
        (options.store === 'postgres' ? ` (${inCommit} in COMMIT)` : '') +
        (inLeaseWrite! > 0 ? ` (${inLeaseWrite} in a write of a lease)` : ''),
    );
  }
  event('stall');
  event('restart');
  if (faults.has('pool')) {
    const most = Math.max(...results.flatMap(({ servers }) => servers.map((server) => server.mostInFlight)));
    lines.push(`pool 2 connections for each server (up to ${most} requests in flight)`);
  }
  if (faults.has('skew')) lines.push(`skew ${skew}`);
  return lines;
}

/** What is worth knowing besides. */
export function describeRun({ mode, workload, gateway, servers, slowStops, journal }: RunResult): string[] {
  const { intents } = workload;
  const statuses = new Map<string, number>();
  for (const { task, final } of intents) {
    const name = `${task.type} ${final?.status ?? 'without a final answer'}`;
    statuses.set(name, (statuses.get(name) ?? 0) + 1);
  }
  const answers = [...statuses].toSorted().map(([name, count]) => `${name}: ${count}`);
  const lines = [`${mode}: ${answers.join(', ')}; over after ${Math.round(journal.now() / 1_000)} s`];
  if (gateway.calls.length > 0) {
    const { calls, customers, charges, refunds } = gateway;
    lines.push(
      `${mode}: gateway: ${calls.length} calls, ${customers.length} customers, ${charges.length} charges, ` +
        `${refunds.length} refunds`,
    );
  }
  const crashes = sum(servers, (server) => server.crashes);
  if (crashes > 0) lines.push(`${mode}: servers have ended by themselves ${crashes} times`);
  if (slowStops > 0) lines.push(`${mode}: ${slowStops} servers did not end when they were told to`);
  return lines;
}

/** What went wrong, the worst first, and everything that happened to one of the intents concerned. */
export function describeViolations(results: readonly RunResult[]): string[] {
  const found = results.flatMap((result) => result.violations.map((violation) => ({ ...violation, result })));
  const sorted = found.toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
  const lines = sorted
    .slice(0, MOST_LINES)
    .map(
      ({ kind, text, intent, result }) => `${kind} (${result.mode}): ${intent?.key ?? 'in total'}: ${text}`,
    );
  if (sorted.length > MOST_LINES) lines.push(`and ${sorted.length - MOST_LINES} more`);
  const worst = sorted.find(({ intent }) => intent !== undefined);
  return worst ? [...lines, ...describeTimeline(worst.intent!, worst.result)] : lines;
}

/** One intent counts once, whatever is wrong with it. */
function countIntents(violations: readonly Violation[], kind: ViolationKind): number {
  const ofKind = violations.filter((violation) => violation.kind === kind);
  return new Set(ofKind.map((violation) => violation.intent ?? violation)).size;
}

function sum<T>(list: readonly T[], value: (item: T) => number): number {
  return list.reduce((total, item) => total + value(item), 0);
}
