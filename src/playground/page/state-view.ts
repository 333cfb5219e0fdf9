import { byId, row, short } from './dom.js';

/** As the server gives it. */
interface ShopState {
  orders: { id: string; status: string; quantity: number; at: string }[];
  orderCount: number;
  products: { sku: string; stock: number }[];
  records: { key: string; operation: string; state: string; status: number | null; expiresIn: number }[];
}

const POLL_MS = 1_000;

/** Shows what the database has, again and again. */
export async function showState(sku: string): Promise<void> {
  for (;;) {
    await refresh(sku).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export async function refresh(sku: string): Promise<void> {
  const response = await fetch('/state');
  if (!response.ok) return;
  const { orders, orderCount, products, records } = (await response.json()) as ShopState;
  byId('stock').textContent = String(products.find((product) => product.sku === sku)?.stock ?? '–');
  byId('order-count').textContent = String(orderCount);
  byId('orders').replaceChildren(
    ...orders.map(({ id, quantity, status, at }) =>
      row([
        { text: short(id), look: 'code' },
        { text: String(quantity) },
        { text: status },
        { text: new Date(at).toLocaleTimeString() },
      ]),
    ),
  );
  byId('records').replaceChildren(
    ...records.map(({ key, operation, state, status, expiresIn }) =>
      row([
        { text: short(key), look: 'code' },
        { text: operation },
        { text: state },
        { text: status === null ? '' : String(status) },
        { text: describe(expiresIn) },
      ]),
    ),
  );
}

function describe(seconds: number): string {
  if (seconds <= 0) return 'over';
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}
