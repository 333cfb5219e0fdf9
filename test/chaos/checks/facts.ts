import type { Gateway, Movement } from '../gateway.js';
import { withClient } from '../postgres.js';
import { type OrderItem } from '../shop.js';
import type { RecordFact, RecordStore } from '../stores/record-store.js';

export interface OrderFact {
  id: string;
  status: string;
  charge: string | null;
  refund: string | null;
  items: OrderItem[];
}

/** What has really happened, from the database, the store of the records and the gateway's own log. */
export interface Facts {
  orders: ReadonlyMap<string, OrderFact>;
  /** By product. */
  ordersOf: ReadonlyMap<string, OrderFact[]>;
  stock: ReadonlyMap<string, number>;
  /** By key. */
  records: ReadonlyMap<string, RecordFact[]>;
  /** Transactions that nobody goes on with. */
  idleInTransaction: string[];
  /** By order. */
  charges: ReadonlyMap<string, Movement[]>;
  refunds: ReadonlyMap<string, Movement[]>;
}

const ORDERS = `
  SELECT o.id, o.status, o.charge_id AS charge, o.refund_id AS refund,
    json_agg(json_build_object('sku', l.sku, 'quantity', l.quantity) ORDER BY l.sku)
      FILTER (WHERE l.sku IS NOT NULL) AS items
  FROM orders o LEFT JOIN order_line l ON l.order_id = o.id GROUP BY o.id`;

const IDLE_IN_TRANSACTION = `
  SELECT query FROM pg_stat_activity WHERE datname = current_database()
    AND state LIKE 'idle in transaction%' AND state_change < clock_timestamp() - interval '1 second'`;

export async function gatherFacts(databaseUrl: string, store: RecordStore, gateway: Gateway): Promise<Facts> {
  const records = await store.records();
  return withClient(databaseUrl, async (client) => {
    const idle = await client.query<{ query: string }>(IDLE_IN_TRANSACTION);
    const { rows: orders } = await client.query<OrderFact>(ORDERS);
    const { rows: products } = await client.query<{ sku: string; stock: number }>(
      'SELECT sku, stock FROM product',
    );
    const byProduct = orders.flatMap((order) => (order.items ?? []).map(({ sku }) => ({ sku, order })));
    return {
      orders: new Map(orders.map((order) => [order.id, { ...order, items: order.items ?? [] }])),
      ordersOf: mapValues(
        groupBy(byProduct, ({ sku }) => sku),
        (list) => list.map(({ order }) => order),
      ),
      stock: new Map(products.map(({ sku, stock }) => [sku, stock])),
      records: groupBy(records, ({ key }) => key),
      idleInTransaction: idle.rows.map(({ query }) => query),
      charges: groupBy(gateway.charges, ({ orderId }) => orderId),
      refunds: groupBy(gateway.refunds, ({ orderId }) => orderId),
    };
  });
}

function groupBy<T>(list: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of list) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

function mapValues<T, U>(map: Map<string, T>, change: (value: T) => U): Map<string, U> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
