import { randomUUID } from 'node:crypto';

import type { Database } from './database.js';

/** One of the tokens that the app knows without a sign-up. */
const DEMO_TOKEN = 'demo-alice';

/** What to try first. The app's address comes before any other. */
export function greeting(port: number, playground: string, database: Database, redisUrl?: string): string {
  const base = `http://localhost:${port}`;
  const authorization = `-H 'Authorization: Bearer ${DEMO_TOKEN}'`;
  const body = JSON.stringify({ items: [{ sku: 'KIBBLE-2KG', quantity: 1 }], currency: 'JPY' });
  const order =
    `curl -i ${base}/v1/orders ${authorization} -H 'Idempotency-Key: ${randomUUID()}' ` +
    `-H 'Content-Type: application/json' -d '${body}'`;

  const keys = redisUrl
    ? 'in the Redis of REDIS_URL'
    : 'in the database; for Redis: IDEMPOTENCY_STORE=redis REDIS_URL=redis://127.0.0.1:6379 npm start';

  return `
App         ${base}
API docs    ${base}/docs
Playground  ${playground}
Database    ${database.description}
Keys        ${keys}

Place an order, and place it again: the same answer, the second time with Idempotent-Replayed: true.

  ${order}

  ${order}

It is there once.

  curl ${base}/v1/orders ${authorization}

Ctrl-C stops everything.
`;
}
