import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Registration } from '../decorators/registration.js';
import { IDEMPOTENCY_RESOLVED_OPTIONS, IDEMPOTENT_METADATA } from '../idempotency.constants.js';
import type { IdempotentOptions } from '../options/idempotent-options.interface.js';
import { type ResolvedModuleOptions, resolveHandlerOptions } from '../options/resolve-module-options.js';
import type { ResolvedOptions } from '../options/resolved-options.js';
import { handlesResponse } from '../nest-metadata.js';
import { requestOf } from './raw-http.js';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** One decorated handler of one controller, with its options. */
export interface IdempotentHandler {
  readonly registration: Registration;
  readonly options: ResolvedOptions;
  /** Whether it answers by itself, through `@Res()`. */
  readonly takesResponseOver: boolean;
}

/** Knows the options of each decorated handler, merged and resolved once. @internal */
@Injectable()
export class IdempotentHandlers {
  private readonly cache = new WeakMap<Function, WeakMap<Function, IdempotentHandler>>();

  constructor(@Inject(IDEMPOTENCY_RESOLVED_OPTIONS) private readonly module: ResolvedModuleOptions) {}

  /** The handler of this request, if it is one whose method is unsafe. */
  of(context: ExecutionContext): IdempotentHandler | undefined {
    if (SAFE_METHODS.has(requestOf(context).method)) {
      return undefined;
    }
    return this.resolve(context.getClass(), context.getHandler());
  }

  /** @throws IdempotencyConfigurationError for a wrong option of a handler or its class */
  resolve(controller: Function, method: Function): IdempotentHandler | undefined {
    let handlers = this.cache.get(controller);
    if (!handlers) {
      handlers = new WeakMap();
      this.cache.set(controller, handlers);
    }
    const known = handlers.get(method);
    if (known) {
      return known;
    }
    const registration = Reflect.getMetadata(IDEMPOTENT_METADATA, method) as Registration | undefined;
    if (!registration) {
      return undefined;
    }
    const classOptions = Reflect.getMetadata(IDEMPOTENT_METADATA, controller) as
      IdempotentOptions | undefined;
    const options = resolveHandlerOptions(this.module, classOptions, registration.options);
    const takesResponseOver = handlesResponse(controller, registration.methodName);
    const handler = { registration, options, takesResponseOver };
    handlers.set(method, handler);
    return handler;
  }
}
