// #region customer
import { deriveKey, idempotentFetch } from '@exactly-once/client';

export async function createCustomer(userId: number): Promise<Response> {
  const key = await deriveKey('customer-create', userId);
  const body = JSON.stringify({ reference: userId });
  return idempotentFetch('https://payments.example/customers', { method: 'POST', body }, { key });
}
// #endregion
