import {
  Idempotent,
  IdempotencyModule,
  type IdempotencyModuleOptions,
  type IdempotencyStore,
} from '@exactly-once/nestjs';
import { expect } from '@jest/globals';
import { Body, Controller, Inject, Post } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';

import type { AdapterName } from '../support/adapters.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type HttpRequest, type HttpResponse, send } from '../support/http.js';
import { newKey, userScope } from '../support/idempotent-app.js';

/** What the handler has done, in order. */
export class Executions {
  readonly keys: string[] = [];
}

@Controller()
export class PaymentsController {
  constructor(@Inject(Executions) private readonly executions: Executions) {}

  @Post()
  @Idempotent({ fingerprint: ({ id }) => id })
  async pay(
    @Body() { id, takes = 0 }: { id: string; takes?: number },
  ): Promise<{ id: string; number: number }> {
    this.executions.keys.push(id);
    const number = this.executions.keys.length;
    await sleep(takes);
    return { id, number };
  }
}

export interface PaymentsApp extends TestApp {
  executions: Executions;
  /** How often the request of this key was executed. */
  executed(key: string): number;
  post(key?: string, request?: HttpRequest & { takes?: number }): Promise<HttpResponse>;
  /** Posts with a new key; resolves when its handler runs. @param takes milliseconds */
  begin(takes: number): Promise<{ key: string; posting: Promise<HttpResponse> }>;
  /** Posts until it is answered with success. @param patience milliseconds */
  insist(key?: string, patience?: number): Promise<HttpResponse>;
}

/** An app without any database, whose records are in this store. */
export async function startPaymentsApp(
  adapter: AdapterName,
  store: IdempotencyStore,
  options: Partial<IdempotencyModuleOptions> = {},
): Promise<PaymentsApp> {
  const executions = new Executions();
  const app = await startApp({
    adapter,
    imports: [IdempotencyModule.forRoot({ scope: userScope, store, ...options })],
    controllers: [PaymentsController],
    providers: [{ provide: Executions, useValue: executions }],
  });
  const post: PaymentsApp['post'] = (key = newKey(), { takes, ...request } = {}) =>
    send(app.url, { body: { id: key, takes }, ...request, headers: { 'Idempotency-Key': key } });
  const executed: PaymentsApp['executed'] = (key) => executions.keys.filter((id) => id === key).length;
  return {
    ...app,
    executions,
    executed,
    post,
    begin: async (takes) => {
      const key = newKey();
      const posting = post(key, { takes });
      await eventually(() => expect(executed(key)).toBe(1));
      return { key, posting };
    },
    insist: (key, patience) =>
      eventually(async () => {
        const answer = await post(key);
        expect(answer.status).toBe(201);
        return answer;
      }, patience),
  };
}
