import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { IdempotencyKeyRequiredError } from '../errors/key.errors.js';
import { type IdempotentHandler, IdempotentHandlers } from './idempotent-handlers.js';
import { responseOf } from './raw-http.js';
import { readKey } from './request-key.js';
import { rememberKey } from './request-state.js';

/**
 * Reads the key and checks its syntax. It touches neither store nor principal, so it does not matter where it
 * stands among the guards of a handler.
 *
 * @publicApi
 */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  constructor(private readonly handlers: IdempotentHandlers) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const handler = this.handlers.of(context);
    if (!handler) {
      return true;
    }
    const key = readKey(context, handler.options);
    return key instanceof Promise
      ? key.then((read) => this.admit(context, handler, read))
      : this.admit(context, handler, key);
  }

  private admit(context: ExecutionContext, handler: IdempotentHandler, key: string | undefined): boolean {
    const { options } = handler;
    if (key !== undefined) {
      rememberKey(responseOf(context), key, handler);
    } else if (options.required) {
      throw new IdempotencyKeyRequiredError(
        options.keyFrom ? 'an idempotency key' : `the header ${options.header}`,
      );
    }
    return true;
  }
}
