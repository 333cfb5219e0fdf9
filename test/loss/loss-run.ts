import { idempotentFetch, type IdempotentResponse } from '@exactly-once/client';
import { join } from 'node:path';

import { freePort } from '../../src/embedded-postgres/index.js';
import { Guard } from '../chaos/guard.js';
import { Journal } from '../chaos/journal.js';
import { DurablePostgres, withClient } from '../chaos/postgres.js';
import { Random } from '../chaos/random.js';
import { ServerProcess } from '../chaos/servers/server-process.js';
import { CURRENCY, openShop } from '../chaos/shop.js';
import { FaultProxy, type Fault } from './fault-proxy.js';
import type { LossOptions } from './options.js';

const ORDER = JSON.stringify({ items: [{ sku: 'COMMON-01', quantity: 1 }], currency: CURRENCY });

/** Impatient, so that a run does not take long; with 50 attempts none of a million intents is given up. */
const QUICK = { maxAttempts: 50, baseDelay: 20, maxDelay: 200, attemptTimeout: 10_000 };

export interface LossResult {
  intents: number;
  /** Intents with the answer that their order was made. */
  answered: number;
  /** Orders that these answers name, each once. */
  named: number;
  /** Rows in the table. */
  orders: number;
  attempts: number;
  replayed: number;
  requests: number;
  requestsDropped: number;
  responsesDropped: number;
}

/** Places orders through a network that loses requests and responses, on a server and a database of its own. */
export async function runLoss(options: LossOptions, folder: string, guard: Guard): Promise<LossResult> {
  const postgres = await DurablePostgres.start(folder);
  const databaseUrl = await postgres.createDatabase('loss');
  const server = new ServerProcess(
    {
      name: 'server',
      port: await freePort(),
      flags: [],
      environment: { DATABASE_URL: databaseUrl, NODE_ENV: 'production' },
      logFile: join(folder, 'server.log'),
    },
    guard,
    new Journal(),
  );
  await openShop(databaseUrl, 0);
  await server.start();
  const random = new Random(options.seed, 'loss');
  const fault = (): Fault | undefined =>
    random.chance(options.loss) ? 'drop-request' : random.chance(options.loss) ? 'drop-response' : undefined;
  const proxy = await FaultProxy.start(() => server.url, fault);
  try {
    const answers = await placeOrders(`${proxy.url}/v1/orders`, options);
    return await summarize(options, answers, proxy, databaseUrl);
  } finally {
    await proxy.close();
    await server.stop();
    await postgres.stop();
  }
}

/** As many at a time as there are clients. */
async function placeOrders(url: string, { intents, clients }: LossOptions): Promise<IdempotentResponse[]> {
  const answers: IdempotentResponse[] = [];
  let begun = 0;
  const client = async (): Promise<void> => {
    while (begun < intents) {
      begun += 1;
      answers.push(await placeOrder(url));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return answers;
}

function placeOrder(url: string): Promise<IdempotentResponse> {
  const headers = { Authorization: 'Bearer demo-alice', 'Content-Type': 'application/json' };
  return idempotentFetch(url, { method: 'POST', headers, body: ORDER }, QUICK);
}

async function summarize(
  { intents }: LossOptions,
  answers: IdempotentResponse[],
  { counts }: FaultProxy,
  databaseUrl: string,
): Promise<LossResult> {
  const made = answers.filter(({ status }) => status === 201);
  const bodies = await Promise.all(made.map((answer) => answer.json() as Promise<{ id: string }>));
  const orders = await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>('SELECT id FROM orders');
    return new Set(rows.map(({ id }) => id));
  });
  return {
    intents,
    answered: made.length,
    named: new Set(bodies.map(({ id }) => id).filter((id) => orders.has(id))).size,
    orders: orders.size,
    attempts: answers.reduce((sum, answer) => sum + answer.attempts, 0),
    replayed: answers.filter(({ replayed }) => replayed).length,
    requests: counts.requests,
    requestsDropped: counts['drop-request'],
    responsesDropped: counts['drop-response'],
  };
}
