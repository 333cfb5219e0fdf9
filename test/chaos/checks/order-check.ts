import type { Intent, OrderPlan } from '../clients/intent.js';
import { isOwnProduct, type OrderItem, SOLD_OUT, STOCK } from '../shop.js';
import type { Facts } from './facts.js';
import type { Violation, ViolationKind } from './violation.js';

/**
 * Exactly one order, one set of lines and one stock decrement for what a client was told has succeeded; none
 * for what it was told has failed for good; at most one for everything else.
 */
export function checkOrder(intent: Intent, plan: OrderPlan, facts: Facts): Violation[] {
  const violations: Violation[] = [];
  const add = (kind: ViolationKind, text: string) => violations.push({ kind, text, intent });
  const orders = facts.ordersOf.get(plan.own.sku) ?? [];
  const taken = STOCK - facts.stock.get(plan.own.sku)!;
  const ids = orders.map(({ id }) => id);

  if (orders.length > 1) add('duplicate', `${orders.length} orders: ${ids.join(', ')}`);
  if (intent.isSuccess) {
    const { id } = intent.result<{ id: string }>();
    if (!ids.includes(id)) add('lost', `the client was told of order ${id}, which does not exist`);
  } else if (intent.final && orders.length > 0) {
    add('mismatched', `the client was told ${intent.final.status} for good, and there is order ${ids[0]}`);
  }
  for (const { id, items } of orders) {
    if (linesOf(items) !== linesOf(plan.items)) {
      add('lost', `order ${id} has the lines ${linesOf(items)} instead of ${linesOf(plan.items)}`);
    }
  }
  const due = plan.own.quantity * orders.length;
  if (taken !== due) {
    add(
      taken > due ? 'duplicate' : 'lost',
      `${taken} of ${plan.own.sku} were taken from stock; ${due} were ordered`,
    );
  }
  return violations;
}

/** The stock that all intents share: what is missing has been ordered. And no order is without an intent. */
export function checkTotals(facts: Facts): Violation[] {
  const violations: Violation[] = [];
  const ordered = new Map<string, number>();
  for (const { id, items } of facts.orders.values()) {
    for (const { sku, quantity } of items) ordered.set(sku, (ordered.get(sku) ?? 0) + quantity);
    if (!items.some(({ sku }) => isOwnProduct(sku))) {
      violations.push({ kind: 'mismatched', text: `order ${id} belongs to no intent: ${linesOf(items)}` });
    }
  }
  for (const [sku, stock] of facts.stock) {
    const taken = (sku === SOLD_OUT ? 0 : STOCK) - stock;
    const due = ordered.get(sku) ?? 0;
    if (!isOwnProduct(sku) && taken !== due) {
      violations.push({
        kind: taken > due ? 'duplicate' : 'lost',
        text: `${taken} of ${sku} were taken from stock in total; ${due} were ordered`,
      });
    }
  }
  return violations;
}

function linesOf(items: readonly OrderItem[]): string {
  const sorted = items.toSorted((a, b) => (a.sku < b.sku ? -1 : 1));
  return sorted.map(({ sku, quantity }) => `${quantity} ${sku}`).join(', ');
}
