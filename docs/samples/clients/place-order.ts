// #region order
import { createIntent, idempotentFetch } from '@exactly-once/client';

const intent = createIntent({ name: 'checkout' });

export async function placeOrder(order: object): Promise<unknown> {
  const response = await idempotentFetch(
    'https://shop.example/v1/orders',
    { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(order) },
    { key: await intent.key(order) },
  );
  await intent.settle(response.key);
  return response.json();
}
// #endregion
