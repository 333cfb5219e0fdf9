import type { IncomingHttpHeaders } from 'node:http';
import type { FingerprintFile } from '../engine/fingerprint.js';
import type { FrameworkRequest } from './raw-http.js';
import { uploadedFiles } from './uploaded-files.js';

export interface Payload {
  readonly body: unknown;
  readonly files: readonly FingerprintFile[];
}

/** Types whose parsers leave an empty object for an empty body. */
const MAY_BE_EMPTY = /^application\/(.*\+)?json$|^application\/x-www-form-urlencoded$/;

/**
 * What has been read of the request's body.
 *
 * @returns undefined for a body that nothing has parsed: hashed as empty, another amount would pass for a retry
 */
export function readPayload(
  request: FrameworkRequest,
  headers: IncomingHttpHeaders,
  contentType: string,
): Payload | undefined {
  // What is not looked for in the requests that there are most of: see `keepOneShape()`.
  const files = contentType === 'application/json' ? [] : uploadedFiles(request);
  if (!files) {
    return undefined;
  }
  const { body } = request;
  if (files.length === 0 && hasBody(headers) && !isParsed(body, contentType)) {
    return undefined;
  }
  return { body, files };
}

/** Media type without parameters, in lower case. */
export function mediaType(headers: IncomingHttpHeaders): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isParsed(body: unknown, contentType: string): boolean {
  if (body === undefined) {
    return false;
  }
  const isEmpty =
    body === null ||
    (typeof body === 'object' && !(body instanceof Uint8Array) && Object.keys(body).length === 0);
  return !isEmpty || MAY_BE_EMPTY.test(contentType);
}
