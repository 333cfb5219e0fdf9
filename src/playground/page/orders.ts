import { createIntent, idempotentFetch, IdempotentFetchError } from '@exactly-once/client';

import { Timeline } from './timeline.js';

export const SKU = 'KIBBLE-2KG';

export const ORDER = { items: [{ sku: SKU, quantity: 1 }], currency: 'JPY' };
const OTHER_ORDER = { items: [{ sku: SKU, quantity: 2 }], currency: 'JPY' };

/** Milliseconds: a server that takes ten seconds is given up. */
const PATIENCE = { attemptTimeout: 3_000 };

/** Milliseconds. */
const ONE_PRESS = 1_500;

export type Fault = 'lose-response' | 'slow' | 'kill';

const intent = createIntent({ name: 'playground-order' });
let clicks = 0;

/** What one click does. A fault hits its first attempt. */
export async function placeOrder(fault?: Fault): Promise<string> {
  const click = nextClick();
  const key = await intent.key(ORDER);
  const timeline = new Timeline(click, key);
  let attempts = 0;
  const fetcher: typeof fetch = (input, init) => {
    attempts += 1;
    timeline.begin();
    const request = new Request(input, init);
    if (fault && attempts === 1) request.headers.set('X-Playground-Fault', fault);
    return fetch(request);
  };
  const response = await idempotentFetch('/v1/orders', requestOf(ORDER), {
    ...PATIENCE,
    key,
    fetch: fetcher,
    onAttempt: (report) => void timeline.end(report),
  });
  // A press so soon after the result is the second half of a double-click, and no other intent.
  setTimeout(() => void intent.settle(key), ONE_PRESS);
  return describe(response, response.attempts);
}

/** The same key for something else: a bug of a client, which the server must notice. */
export async function changeBody(): Promise<string> {
  const key = await intent.key(ORDER);
  const first = await placeOrder();
  const second = await sendOnce(OTHER_ORDER, key);
  return `${first} The same key with two pieces was answered ${second}.`;
}

export async function withoutKey(): Promise<string> {
  return `Without a key the order was answered ${await sendOnce(ORDER, undefined)}.`;
}

/** @returns why there is no order */
export function explain(error: unknown): string {
  return error instanceof IdempotentFetchError
    ? `Given up after ${error.attempts} attempts. Press again: the same key goes on.`
    : String(error);
}

async function sendOnce(order: object, key: string | undefined): Promise<string> {
  const timeline = new Timeline(nextClick(), key);
  const request = requestOf(order);
  if (key) request.headers.set('Idempotency-Key', key);
  timeline.begin();
  const begun = performance.now();
  const response = await fetch('/v1/orders', request);
  const { code } = (await response.clone().json()) as { code?: string };
  await timeline.end({ response, code, cause: undefined, duration: performance.now() - begun });
  return `${response.status} ${code ?? ''}`.trim();
}

function requestOf(order: object) {
  const headers = new Headers({ Authorization: 'Bearer demo-alice', 'Content-Type': 'application/json' });
  return { method: 'POST', headers, body: JSON.stringify(order) };
}

function describe(response: Response & { replayed: boolean }, attempts: number): string {
  if (!response.ok) return `The order was answered ${response.status}.`;
  const how = response.replayed ? ', and this is the first answer again' : '';
  return `Ordered, after ${attempts === 1 ? 'one attempt' : `${attempts} attempts`}${how}.`;
}

function nextClick(): string {
  clicks += 1;
  return String(clicks);
}
