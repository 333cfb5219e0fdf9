import { idempotentFetch } from '@exactly-once/client';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Received {
  path: string;
  key: string | undefined;
  body: string;
}

let server: Server;
let url: string;
let received: Received[];

/** Breaks the first request off; `/moved` is somewhere else. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const key = request.headers['idempotency-key'] as string | undefined;
    received.push({ path: request.url!, key, body: await text(request) });
    if (received.length === 1) request.socket.destroy();
    else if (request.url === '/moved') response.writeHead(307, { Location: '/orders' }).end();
    else response.writeHead(201).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  received = [];
});

it.each<[string, (address: string) => [Parameters<typeof fetch>[0], RequestInit]]>([
  ['a text', (address) => [address, { method: 'POST', body: 'kibble' }]],
  ['bytes', (address) => [new URL(address), { method: 'POST', body: new TextEncoder().encode('kibble') }]],
  ['a Request', (address) => [new Request(address, { method: 'POST', body: 'kibble' }), {}]],
])('the global fetch sends %s again, also where it is redirected', async (_, call) => {
  const response = await idempotentFetch(...call(`${url}/moved`), { baseDelay: 1 });

  expect(response).toMatchObject({ status: 201, attempts: 2, redirected: true });
  expect(received).toEqual(
    ['/moved', '/moved', '/orders'].map((path) => ({ path, key: response.key, body: 'kibble' })),
  );
});
