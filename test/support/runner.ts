import {
  IdempotencyService,
  type IdempotencyMode,
  type IdempotencyRunOptions,
  type IdempotencyRunRequest,
  type IdempotentContext,
} from '@exactly-once/nestjs';

import type { Effect } from './effect.entity.js';
import { startIdempotentApp, type IdempotentApp } from './idempotent-app.js';

export type RunWork<T> = (context: IdempotentContext) => T | Promise<T>;

/** A consumer of messages, which handles each by `IdempotencyService.run()`. */
export interface Runner extends IdempotentApp {
  service: IdempotencyService;
  run<T>(
    key: string,
    work: RunWork<T>,
    request?: Partial<IdempotencyRunRequest>,
    options?: IdempotencyRunOptions,
  ): Promise<T>;
  /** How often the work of some call was started since the last `reset()`. */
  executions(): number;
  save(name?: string): Promise<Effect>;
  reset(): Promise<void>;
}

export async function startRunner(mode: IdempotencyMode): Promise<Runner> {
  const app = await startIdempotentApp({ adapter: 'express' });
  const service = app.app.get(IdempotencyService);
  let executions = 0;
  return {
    ...app,
    service,
    executions: () => executions,
    save: (name = 'order') => app.effects.save({ name }),
    run: (key, work, request, options) =>
      service.run(
        { scope: 'invoices', operation: 'invoice-paid', key, ...request },
        (context) => {
          executions += 1;
          return work(context);
        },
        { mode, ...options },
      ),
    async reset() {
      executions = 0;
      app.log.clear();
      await Promise.all([app.effects.clear(), app.records.clear()]);
    },
  };
}
