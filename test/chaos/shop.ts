import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { MIGRATE_SCRIPT } from './project.js';
import { withClient } from './postgres.js';
import type { Random } from './random.js';

/** What every order of the harness is in. */
export const CURRENCY = 'JPY';
/** Of each product that an order can be placed for, at the beginning. */
export const STOCK = 1_000_000;
/** Names in the order in which the app takes them from stock, so that a refusal has something to undo. */
export const SOLD_OUT = 'SOLD-OUT';
/** One of these costs more than the payment gateway allows. */
export const TOO_EXPENSIVE = 'PRICELESS';

const COMMON_PRODUCTS = 40;

export interface OrderItem {
  sku: string;
  quantity: number;
}

const OWN = 'INTENT-';

/** A product that only the intent of this number orders: it shows what this intent has done, whatever was recorded. */
export function ownProduct(intent: number): string {
  return `${OWN}${String(intent).padStart(7, '0')}`;
}

export function isOwnProduct(sku: string): boolean {
  return sku.startsWith(OWN);
}

/** A few of the products that all intents share, for which they compete. */
export function drawCommonItems(random: Random): OrderItem[] {
  const first = random.integer(1, COMMON_PRODUCTS / 2);
  const second = random.integer(COMMON_PRODUCTS / 2 + 1, COMMON_PRODUCTS);
  const chosen = random.chance(0.5) ? [first] : [first, second];
  return chosen.map((number) => ({
    sku: `COMMON-${String(number).padStart(2, '0')}`,
    quantity: random.integer(1, 3),
  }));
}

const INSERT = `INSERT INTO product (sku, name, price, currency, stock)`;

/**
 * The app refuses a second refund of one order by the order's status, which would hide that it was executed
 * twice. Where a paid order stays paid, nothing but the library stands in the way.
 */
const KEEP_PAID = `
  CREATE FUNCTION keep_paid() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.status := 'paid'; RETURN NEW; END $$;
  CREATE TRIGGER keep_paid BEFORE UPDATE ON orders FOR EACH ROW
    WHEN (OLD.status = 'paid' AND NEW.status IN ('refunding', 'refunded')) EXECUTE FUNCTION keep_paid()`;

/** Brings an empty database to where clients can order, with a product of its own for so many intents. */
export async function openShop(databaseUrl: string, intents: number): Promise<void> {
  await promisify(execFile)(process.execPath, [MIGRATE_SCRIPT], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  await withClient(databaseUrl, async (client) => {
    await client.query(KEEP_PAID);
    await client.query('DELETE FROM product');
    await client.query(
      `${INSERT} SELECT 'COMMON-' || lpad(n::text, 2, '0'), 'Common', 500, $1, $2 FROM generate_series(1, $3) n`,
      [CURRENCY, STOCK, COMMON_PRODUCTS],
    );
    await client.query(
      `${INSERT} SELECT '${OWN}' || lpad(n::text, 7, '0'), 'Own', 1000, $1, $2 FROM generate_series(1, $3::int) n`,
      [CURRENCY, STOCK, intents],
    );
    await client.query(`${INSERT} VALUES ($1, 'Too expensive', 1000000, $2, $3)`, [
      TOO_EXPENSIVE,
      CURRENCY,
      STOCK,
    ]);
    await client.query(`${INSERT} VALUES ($1, 'Sold out', 1000, $2, 0)`, [SOLD_OUT, CURRENCY]);
  });
}
