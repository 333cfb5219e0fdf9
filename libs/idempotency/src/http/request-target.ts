import type { IncomingHttpHeaders } from 'node:http';
import { type ExecutionContext, Logger } from '@nestjs/common';
import { fingerprintOf } from '../engine/fingerprint.js';
import { recordId } from '../engine/record-id.js';
import { IdempotencyBodyUnparsedError } from '../errors/service.errors.js';
import type { ResolvedOptions } from '../options/resolved-options.js';
import type { ClaimTarget } from '../store/claim.js';
import { type FrameworkRequest, requestOf } from './raw-http.js';
import { operationOf, splitUrl } from './request-operation.js';
import { mediaType, type Payload, readPayload } from './request-payload.js';
import { resolveScope } from './request-scope.js';

const logger = new Logger('Idempotency');

/**
 * Which record a request is about, and what a retry of it must repeat. A promise only where an option gives one.
 *
 * @throws IdempotencyScopeUnresolvedError, IdempotencyBodyUnparsedError
 */
export function targetOf(
  context: ExecutionContext,
  options: ResolvedOptions,
  key: string,
): ClaimTarget | Promise<ClaimTarget> {
  const request = requestOf(context);
  const scope = options.scope === false ? null : resolveScope(context, options.scope);
  const { fingerprint: choose } = options;
  if (scope instanceof Promise || choose) {
    return (async () => {
      const resolved = await scope;
      const chosen = choose && { body: await choose(request.body, context), files: [] };
      return makeTarget(context, request, options, resolved, key, chosen);
    })();
  }
  return makeTarget(context, request, options, scope, key);
}

/** @param chosen what the option `fingerprint` says that counts */
function makeTarget(
  context: ExecutionContext,
  request: FrameworkRequest,
  options: ResolvedOptions,
  scope: string | null,
  key: string,
  chosen?: Payload,
): ClaimTarget {
  const operation = options.operation ?? operationOf(request);
  const fingerprint = readFingerprint(context, request, chosen);
  return { id: recordId({ scope, operation, key }), scope, operation, key, fingerprint };
}

function readFingerprint(
  context: ExecutionContext,
  request: FrameworkRequest,
  chosen: Payload | undefined,
): Buffer {
  const { headers, method } = request;
  const contentType = mediaType(headers);
  const { body, files } = chosen ?? requirePayload(context, request, headers, contentType);
  const [path, query] = splitUrl(request);
  try {
    return fingerprintOf({ method, path, query, contentType, body, files });
  } catch (cause) {
    throw unparsed(context, contentType, cause);
  }
}

function requirePayload(
  context: ExecutionContext,
  request: FrameworkRequest,
  headers: IncomingHttpHeaders,
  contentType: string,
): Payload {
  const payload = readPayload(request, headers, contentType);
  if (!payload) {
    throw unparsed(context, contentType);
  }
  return payload;
}

function unparsed(
  context: ExecutionContext,
  contentType: string,
  cause?: unknown,
): IdempotencyBodyUnparsedError {
  const handler = `${context.getClass().name}.${context.getHandler().name}`;
  logger.error(
    `The body of a request to ${handler} (${contentType || 'no content type'}) cannot be compared with that of a ` +
      `retry: nothing has parsed it when the key is claimed, or it is not JSON. Register a body parser for this type; put ` +
      `@Idempotent() above @UseInterceptors(FileInterceptor(…)) and keep uploads in memory; or set the option ` +
      `\`fingerprint\` to a function that says what a retry must repeat.`,
    cause instanceof Error ? cause.stack : undefined,
  );
  return new IdempotencyBodyUnparsedError();
}
