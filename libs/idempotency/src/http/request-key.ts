import type { ExecutionContext } from '@nestjs/common';
import { IdempotencyKeyInvalidError } from '../errors/key.errors.js';
import type { ResolvedOptions } from '../options/resolved-options.js';
import { checkKey, parseKey } from './key-syntax.js';
import { type FrameworkRequest, rawRequest, requestOf } from './raw-http.js';

/**
 * The canonical key of a request, or `undefined` where it has none. A promise only where `keyFrom` may give one.
 *
 * @throws IdempotencyKeyInvalidError for a key that cannot be read
 */
export function readKey(
  context: ExecutionContext,
  options: ResolvedOptions,
): string | undefined | Promise<string | undefined> {
  if (options.keyFrom) {
    return askKeyFrom(options.keyFrom, context);
  }
  const values = headerLines(requestOf(context), options.header);
  if (values.length > 1) {
    throw new IdempotencyKeyInvalidError(`The request has ${values.length} ${options.header} lines.`);
  }
  return values[0] === undefined ? undefined : parseKey(values[0], options.keyFormat);
}

async function askKeyFrom(
  keyFrom: NonNullable<ResolvedOptions['keyFrom']>,
  context: ExecutionContext,
): Promise<string | undefined> {
  const key = await keyFrom(context);
  return key === undefined ? undefined : checkKey(key);
}

/** Node joins field lines of one name, with a comma, and a quoted text torn in two would then look like one key. */
function headerLines(request: FrameworkRequest, name: string): string[] {
  const { headers, rawHeaders } = rawRequest(request);
  const wanted = name.toLowerCase();
  const joined = headers[wanted];
  if (typeof joined === 'string' && !joined.includes(',')) {
    return [joined];
  }
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === wanted);
}
