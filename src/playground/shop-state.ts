import type { Pool } from 'pg';

/** What the page shows of the database. */
export interface ShopState {
  orders: { id: string; status: string; quantity: number; total: number; at: string }[];
  /** Of all, not only of those that are listed. */
  orderCount: number;
  products: { sku: string; name: string; stock: number }[];
  records: {
    key: string;
    operation: string;
    state: 'completed' | 'in progress' | 'expired';
    status: number | null;
    /** Seconds until the retention is over. */
    expiresIn: number;
  }[];
}

const NEWEST = 8;

const ORDERS = `
  SELECT o.id, o.status, coalesce(sum(l.quantity), 0)::int AS quantity, o.total, o.created_at AS at
  FROM orders o LEFT JOIN order_line l ON l.order_id = o.id
  GROUP BY o.id ORDER BY o.created_at DESC LIMIT ${NEWEST}`;

const ORDER_COUNT = 'SELECT count(*)::int AS count FROM orders';

const PRODUCTS = 'SELECT sku, name, stock FROM product ORDER BY sku';

const RECORDS = `
  SELECT key, operation, status, ceil(extract(epoch FROM expires_at - clock_timestamp()))::int AS "expiresIn",
    CASE WHEN expires_at <= clock_timestamp() THEN 'expired' WHEN completed_at IS NULL THEN 'in progress'
      ELSE 'completed' END AS state
  FROM idempotency_records ORDER BY created_at DESC LIMIT ${NEWEST}`;

export async function readShopState(pool: Pool): Promise<ShopState> {
  const [orders, counts, products, records] = await Promise.all(
    [ORDERS, ORDER_COUNT, PRODUCTS, RECORDS].map(async (sql) => (await pool.query(sql)).rows),
  );
  return { orders, products, records, orderCount: counts![0].count } as ShopState;
}
