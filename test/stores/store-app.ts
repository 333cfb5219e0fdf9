import {
  Idempotent,
  IdempotencyContext,
  IdempotencyModule,
  type IdempotencyModuleOptions,
  IdempotencyService,
  type IdempotencyStore,
  type IdempotentOptions,
  InMemoryIdempotencyStore,
} from '@exactly-once/nestjs';
import { Body, Controller, type DynamicModule, Post, Res } from '@nestjs/common';

import type { AdapterName } from '../support/adapters.js';
import { startApp, type TestApp } from '../support/app.js';
import { type HttpResponse, send } from '../support/http.js';
import { newKey, type PostOptions, userScope } from '../support/idempotent-app.js';
import type { Script } from '../support/scripted-app.js';

export interface StoreAppOptions {
  adapter: AdapterName;
  /** Unless `module` has it. */
  store?: IdempotencyStore;
  options?: Partial<IdempotencyModuleOptions>;
  /** What the handler's `@Idempotent()` gets. */
  handler?: IdempotentOptions;
  /** In place of `IdempotencyModule.forRoot({ store, … })`. */
  module?: DynamicModule;
}

/** An app without TypeORM, whose only handler, `POST /`, does what the test at hand says. */
export interface StoreApp extends TestApp {
  service: IdempotencyService;
  post(request?: PostOptions): Promise<HttpResponse>;
  /** Lets the script answer the requests that come. */
  handle(script: Script): void;
  /** How often the handler was started since the last `handle()`. */
  executions(): number;
}

export async function startStoreApp(given: StoreAppOptions): Promise<StoreApp> {
  const { adapter, store, options, handler, module } = given;
  let executions = 0;
  let current: Script = () => ({ id: executions });

  @Controller()
  class ScriptedController {
    @Post()
    @Idempotent(handler)
    run(
      @Body() body: unknown,
      @IdempotencyContext() context: Parameters<Script>[0]['context'],
      @Res({ passthrough: true }) response: unknown,
    ): unknown {
      executions += 1;
      return current({ context, body, response });
    }
  }

  const app = await startApp({
    adapter,
    imports: [module ?? IdempotencyModule.forRoot({ scope: userScope, store, ...options })],
    controllers: [ScriptedController],
  });
  return {
    ...app,
    service: app.app.get(IdempotencyService),
    post: ({ key = newKey(), headers, ...request } = {}) =>
      send(app.url, {
        body: { amount: 100 },
        ...request,
        headers: { ...(key !== null && { 'Idempotency-Key': key }), ...headers },
      }),
    handle(script) {
      executions = 0;
      current = script;
    },
    executions: () => executions,
  };
}

type Operation = 'claim' | 'complete' | 'release' | 'renew' | 'recordSteps';

/** Fails as the test at hand says. */
export class FaultyStore extends InMemoryIdempotencyStore {
  /** What happens in place of a claim; `claim` makes it, whatever is answered. */
  onClaim: ((claim: () => Promise<unknown>) => Promise<never>) | undefined;
  /** The operations that are never answered. */
  readonly silent = new Set<Operation>();

  override async claim(...claim: Parameters<InMemoryIdempotencyStore['claim']>) {
    await this.answer('claim');
    const make = () => super.claim(...claim);
    return this.onClaim ? this.onClaim(make) : make();
  }

  override async complete(...outcome: Parameters<InMemoryIdempotencyStore['complete']>) {
    await this.answer('complete');
    return super.complete(...outcome);
  }

  override async release(...hold: Parameters<InMemoryIdempotencyStore['release']>) {
    await this.answer('release');
    return super.release(...hold);
  }

  override async renew(...lease: Parameters<InMemoryIdempotencyStore['renew']>) {
    await this.answer('renew');
    return super.renew(...lease);
  }

  override async recordSteps(...steps: Parameters<InMemoryIdempotencyStore['recordSteps']>) {
    await this.answer('recordSteps');
    return super.recordSteps(...steps);
  }

  /** From now on each claim counts as taken back, so that a shutdown waits for none. */
  settle(): void {
    this.silent.clear();
    this.release = async () => true;
  }

  private async answer(operation: Operation): Promise<void> {
    if (this.silent.has(operation)) await new Promise(() => undefined);
  }
}
