import { type ExecutionContext, Logger } from '@nestjs/common';
import { isThenable } from '../engine/thenable.js';
import { IdempotencyScopeUnresolvedError } from '../errors/service.errors.js';
import { describe } from '../options/duration.js';
import type { IdempotencyScopeFn } from '../options/idempotent-options.interface.js';
import { requestOf } from './raw-http.js';

const logger = new Logger('Idempotency');

/**
 * Who the key of this request belongs to. A promise only where the function gives one.
 *
 * @throws IdempotencyScopeUnresolvedError unless the function names somebody: pooled as one anonymous
 * caller, users would get each other's responses
 */
export function resolveScope(context: ExecutionContext, scope: IdempotencyScopeFn): string | Promise<string> {
  const failed = (cause: unknown): never => {
    throw refuse(context, 'threw an error', cause);
  };
  let principal: unknown;
  try {
    principal = scope(requestOf(context), context);
  } catch (cause) {
    return failed(cause);
  }
  return isThenable(principal)
    ? Promise.resolve(principal).then((resolved) => requirePrincipal(context, resolved), failed)
    : requirePrincipal(context, principal);
}

function requirePrincipal(context: ExecutionContext, principal: unknown): string {
  if (isPrincipal(principal)) {
    return String(principal);
  }
  throw refuse(context, `returned ${typeof principal === 'object' ? 'an object' : describe(principal)}`);
}

/** Postgres cannot store U+0000, and UTF-8 makes one of all halves of surrogate pairs. */
export function isPrincipal(value: unknown): value is string | number | bigint {
  if (typeof value === 'string') {
    return value !== '' && !/\0|\p{Surrogate}/u.test(value);
  }
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value));
}

function refuse(context: ExecutionContext, what: string, cause?: unknown): IdempotencyScopeUnresolvedError {
  const handler = `${context.getClass().name}.${context.getHandler().name}`;
  logger.error(
    `The option \`scope\` of ${handler} ${what}. It must return a non-empty string or a number that names the ` +
      `principal, such as req.user.id. Put an authentication guard before the handler, or set \`scope: false\` ` +
      `where all callers share their keys.`,
    cause instanceof Error ? cause.stack : cause,
  );
  return new IdempotencyScopeUnresolvedError(cause);
}
