import { Idempotent, IdempotencyModule, InMemoryIdempotencyStore } from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Controller, Post, Req } from '@nestjs/common';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';

import { onEachAdapter } from '../support/adapters.js';
import { startApp, type TestApp } from '../support/app.js';
import { send } from '../support/http.js';
import { newKey } from '../support/idempotent-app.js';

/** What a response of its own for this request would send. */
async function render(request: IncomingMessage): Promise<string> {
  const page = new ServerResponse(request);
  const sink = new PassThrough();
  page.assignSocket(sink as never);
  page.statusCode = 202;
  page.end('a page');
  sink.end();
  return text(sink);
}

@Controller()
class MailController {
  private count = 0;

  @Post()
  @Idempotent()
  async send(@Req() request: { raw?: IncomingMessage }): Promise<{ count: number; page: boolean }> {
    const page = await render(request.raw ?? (request as IncomingMessage));
    this.count += 1;
    return { count: this.count, page: page.endsWith('a page') };
  }
}

onEachAdapter((adapter) => {
  let app: TestApp;

  beforeAll(async () => {
    const store = new InMemoryIdempotencyStore();
    const imports = [IdempotencyModule.forRoot({ scope: false, store })];
    app = await startApp({ adapter, imports, controllers: [MailController] });
  });
  afterAll(() => app.close());

  it('a handler may render into a response of its own: its answer is still what it returns', async () => {
    const headers = { 'Idempotency-Key': newKey() };
    const first = await send(app.url, { headers, body: {} });
    const second = await send(app.url, { headers, body: {} });

    expect(first.status).toBe(201);
    expect(first.json()).toEqual({ count: 1, page: true });
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.body).toEqual(first.body);
  });
});
