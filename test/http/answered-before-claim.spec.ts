import {
  Idempotent,
  IdempotencyModule,
  InMemoryIdempotencyStore,
  type LeaseClaim,
} from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Controller, Post, UseInterceptors } from '@nestjs/common';

import { onEachAdapter } from '../support/adapters.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { newKey } from '../support/idempotent-app.js';
import { timeOutAfter } from '../support/time-out.js';

const timeOut = timeOutAfter(100);

/** Claims when it is told to. */
class SlowStore extends InMemoryIdempotencyStore {
  private readonly waiting: (() => void)[] = [];
  isSlow = true;

  override async claim(claim: LeaseClaim) {
    if (this.isSlow) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    return super.claim(claim);
  }

  goOn(): void {
    this.isSlow = false;
    this.waiting.forEach((resolve) => resolve());
  }
}

/** Makes the next look at the headers of a response fail, as a wrapper of somebody's may. */
let isBroken = false;

function breakHeaders(response: { getHeaders(): object }): void {
  const { getHeaders } = response;
  response.getHeaders = function () {
    if (isBroken) {
      isBroken = false;
      throw new Error('no headers');
    }
    return getHeaders.call(this);
  };
}

onEachAdapter((adapter) => {
  let executions = 0;

  @Controller()
  class WorkController {
    @Post()
    @Idempotent()
    @UseInterceptors(timeOut)
    work() {
      executions += 1;
      return { executions };
    }
  }

  const store = new SlowStore();
  let app: TestApp;

  beforeAll(async () => {
    const imports = [IdempotencyModule.forRoot({ scope: false, store })];
    app = await startApp({
      adapter,
      imports,
      controllers: [WorkController],
      configure: (nest) => {
        nest.use((_request: unknown, response: any, next: () => void) => {
          breakHeaders(response);
          next();
        });
      },
    });
  });
  afterAll(() => app.close());

  it('C28: a key that is claimed after somebody else has answered is free again, and nothing was executed', async () => {
    const headers = { 'Idempotency-Key': newKey() };
    const first = await send(app.url, { headers, body: {} });
    expect(first.status).toBe(408);

    store.goOn();
    await eventually(() => {
      expect(store.size).toBe(0);
    });
    expect(executions).toBe(0);
    const second = await send(app.url, { headers, body: {} });

    expect(second.status).toBe(201);
    expect(second.json()).toEqual({ executions: 1 });
  });

  it('a key whose request fails between its claim and its handler is free again', async () => {
    const before = executions;
    const headers = { 'Idempotency-Key': newKey() };
    isBroken = true;
    const first = await send(app.url, { headers, body: {} });
    const second = await send(app.url, { headers, body: {} });

    expect(first.status).toBe(500);
    expect(second.status).toBe(201);
    expect(executions).toBe(before + 1);
  });
});
