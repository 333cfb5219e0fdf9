import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { IdempotencyKeyRequiredError } from '../errors/key.errors.js';
import type { ResolvedOptions } from '../options/resolved-options.js';
import { IdempotentHandlers } from './idempotent-handlers.js';
import { readKey } from './request-key.js';
import { RequestKeys } from './request-keys.js';

/**
 * Reads the key and checks its syntax. It touches neither store nor principal, so it does not matter where it
 * stands among the guards of a handler.
 *
 * @publicApi
 */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  constructor(
    private readonly handlers: IdempotentHandlers,
    private readonly keys: RequestKeys,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const handler = this.handlers.of(context);
    if (handler) {
      const key = await readKey(context, handler.options);
      this.admit(context, handler.options, key);
    }
    return true;
  }

  private admit(context: ExecutionContext, options: ResolvedOptions, key: string | undefined): void {
    if (key !== undefined) {
      this.keys.set(context.switchToHttp().getRequest(), key);
    } else if (options.required) {
      throw new IdempotencyKeyRequiredError(
        options.keyFrom ? 'an idempotency key' : `the header ${options.header}`,
      );
    }
  }
}
