import type { ExecutionContext } from '@nestjs/common';
import { IdempotencyKeyInvalidError } from '../errors/key.errors.js';
import type { ResolvedOptions } from '../options/resolved-options.js';
import { checkKey, parseKey } from './key-syntax.js';
import { type FrameworkRequest, rawRequest } from './raw-http.js';

/**
 * The canonical key of a request, or `undefined` where it has none.
 *
 * @throws IdempotencyKeyInvalidError for a key that cannot be read
 */
export async function readKey(
  context: ExecutionContext,
  options: ResolvedOptions,
): Promise<string | undefined> {
  if (options.keyFrom) {
    const key = await options.keyFrom(context);
    return key === undefined ? undefined : checkKey(key);
  }
  const values = headerLines(context.switchToHttp().getRequest(), options.header);
  if (values.length > 1) {
    throw new IdempotencyKeyInvalidError(`The request has ${values.length} ${options.header} lines.`);
  }
  return values[0] === undefined ? undefined : parseKey(values[0], options.keyFormat);
}

/** Node joins field lines of one name, and a quoted text torn in two would then look like one key. */
function headerLines(request: FrameworkRequest, name: string): string[] {
  const { rawHeaders } = rawRequest(request);
  const wanted = name.toLowerCase();
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === wanted);
}
