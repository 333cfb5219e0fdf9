import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from 'pg';

import { Playground } from '../../src/playground/playground.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { send, sendRaw } from '../support/http.js';

/** The server beside the app, alone: the app is one that does as it is told. */
describe('the server of the playground', () => {
  let database: TestDatabase;
  let app: Server;
  let playground: Playground;
  let url: string;
  let handle: (request: IncomingMessage, response: ServerResponse) => void;
  let kills: number;
  let onKill: () => void;

  beforeAll(async () => {
    database = await createTestDatabase();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(`CREATE TABLE product (sku text); INSERT INTO product VALUES ('KIBBLE-2KG')`);
    await client.end();
    app = createServer((request, response) => handle(request, response)).listen(0, '127.0.0.1');
    await once(app, 'listening');
    playground = await Playground.start(0, {
      url: `http://127.0.0.1:${(app.address() as AddressInfo).port}`,
      databaseUrl: database.url,
      kill: () => {
        kills += 1;
        onKill();
      },
    });
    url = playground.url.replace('localhost', '127.0.0.1');
  });
  afterAll(async () => {
    await playground.close();
    app.closeAllConnections();
    app.close();
    await database.drop();
  });
  beforeEach(() => {
    kills = 0;
    onKill = () => undefined;
    handle = (_request, response) => response.writeHead(201, { 'X-App': '1' }).end('made');
  });

  /** @returns undefined where the connection was cut */
  const attempt = (fault: string) =>
    send(url, { path: '/v1/orders', body: {}, headers: { 'X-Playground-Fault': fault } }).catch(
      () => undefined,
    );

  it('passes requests on, and answers as the app gives them', async () => {
    handle = (request, response) =>
      response.writeHead(201, { 'X-App': request.headers['x-key'] }).end('made');
    const answer = await send(url, { path: '/v1/orders', body: {}, headers: { 'X-Key': '7' } });

    expect(answer).toMatchObject({ status: 201, text: 'made', headers: { 'x-app': '7' } });
  });

  it.each([
    ['an address that is none', 'GET // HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n'],
    ['another address', 'GET http://localhost:99999/ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n'],
    ['a folder above', 'GET /page/../../package.json HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n'],
    [
      'an announced trailer',
      'DELETE /v1/x HTTP/1.1\r\nHost: HOST\r\nTrailer: a\r\nConnection: close\r\n\r\n',
    ],
  ])('survives %s', async (_, message) => {
    await sendRaw(url, message.replace('HOST', new URL(url).host));

    expect((await send(url, { path: '/v1/orders', body: {} })).status).toBe(201);
  });

  it.each([
    ['another origin', { Origin: 'http://elsewhere.example' }],
    ['another name for it', { Host: 'elsewhere.example' }],
  ])('refuses %s', async (_, headers) => {
    const answer = await send(url, {
      path: '/v1/orders',
      headers: { ...headers, 'X-Playground-Fault': 'kill' },
    });

    expect(answer.status).toBe(403);
    expect(kills).toBe(0);
  });

  it('cuts the connection when the app cannot be reached, and when it breaks off', async () => {
    handle = (_request, response) => response.destroy();

    await expect(send(url, { path: '/v1/orders', body: {} })).rejects.toThrow('socket hang up');
  });

  it.each([
    ['waits as well', false],
    ['is refused since its key is in use', true],
  ])('kills the app also while another request is slow, when its own %s', async (_, isRefused) => {
    const order = new Client({ connectionString: database.url });
    await order.connect();
    const waiting: ServerResponse[] = [];
    handle = (_request, response) => {
      if (waiting.length > 0 && isRefused) return void response.writeHead(409).end();
      waiting.push(response);
      if (waiting.length === 1) void order.query('UPDATE product SET sku = sku');
    };
    onKill = () => {
      waiting.forEach((response) => response.destroy());
      handle = (_request, response) => response.destroy();
    };
    const slow = attempt('slow');
    await eventually(() => expect(waiting).toHaveLength(1));
    const kill = attempt('kill');
    try {
      await eventually(() => expect(kills).toBe(1), 2_000);
      expect(await slow).toBeUndefined();
      // The app may be dead before it has read this one.
      expect([undefined, isRefused ? 409 : undefined]).toContain((await kill)?.status);
    } finally {
      await Promise.all([slow, kill]);
      await order.end();
    }
  });

  it('loses a response after the app has given it', async () => {
    let handled = 0;
    handle = (_request, response) => {
      handled += 1;
      response.end('made');
    };
    const lost = send(url, {
      path: '/v1/orders',
      body: {},
      headers: { 'X-Playground-Fault': 'lose-response' },
    });

    await expect(lost).rejects.toThrow('socket hang up');
    expect(handled).toBe(1);
  });
});
