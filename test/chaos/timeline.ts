import type { RunResult } from './chaos-run.js';
import type { Intent } from './clients/intent.js';
import type { JournalEntry } from './journal.js';

/** Milliseconds before and after an intent of which the faults are shown. */
const MARGIN = 3_000;

/** Everything that was done for one intent, and to the servers meanwhile, in order. */
export function describeTimeline(intent: Intent, { mode, journal, gateway, facts }: RunResult): string[] {
  const [first, last] = [intent.timeline.at(0)?.at ?? 0, intent.timeline.findLast(isBeforeDrain)?.at ?? 0];
  const faults = journal.entries.filter(({ at }) => at >= first - MARGIN && at <= last + MARGIN);
  const entries = [...intent.timeline, ...faults, ...gatewayEntries(orderOf(intent), gateway)];
  const records = facts.records.get(intent.key) ?? [];
  return [
    `Timeline of ${intent.key} (${mode}, POST ${intent.path} of ${intent.token}), in milliseconds:`,
    ...entries
      .toSorted((a, b) => a.at - b.at)
      .map(({ at, text }) => `${String(Math.round(at)).padStart(8)}  ${text}`),
    ...records.map(
      ({ state, attempt, row }) => `  record: ${state}, attempt ${attempt}, ${JSON.stringify(row)}`,
    ),
    ...ordersOf(intent, facts).map((order) => `  order: ${JSON.stringify(order)}`),
  ];

  /** Every intent is asked for once more at the end, which is not what its timeline is about. */
  function isBeforeDrain({ at }: JournalEntry): boolean {
    const end = journal.entries.find(({ text }) => text === 'the faults are over');
    return end === undefined || at <= end.at;
  }
}

function gatewayEntries(orderId: string | undefined, gateway: RunResult['gateway']): JournalEntry[] {
  const ofOrder = <T extends { orderId: string }>(list: readonly T[]) =>
    list.filter((item) => item.orderId === orderId);
  return [
    ...ofOrder(gateway.calls).map(({ at, path, key }) => ({
      at,
      text: `gateway: ${path}, key ${key ?? 'none'}`,
    })),
    ...ofOrder(gateway.charges).map(({ at, id }) => ({ at, text: `gateway: money moves, charge ${id}` })),
    ...ofOrder(gateway.refunds).map(({ at, id }) => ({ at, text: `gateway: money moves, refund ${id}` })),
  ];
}

function orderOf({ task }: Intent): string | undefined {
  return task.type === 'order' ? undefined : task.orderId;
}

function ordersOf({ task }: Intent, { orders, ordersOf: byProduct }: RunResult['facts']): object[] {
  if (task.type === 'order') return byProduct.get(task.plan.own.sku) ?? [];
  const order = orders.get(task.orderId);
  return order ? [order] : [];
}
