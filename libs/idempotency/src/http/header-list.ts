import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { HeaderValue } from '../engine/stored-response.js';

/** The last argument of `writeHead()`: an object, a flat list of names and values, or a list of pairs. */
export type WriteHeadHeaders = OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined;

/** Sets what `writeHead()` was given. A name that a list has twice is two header lines. Source: Node's manual. */
export function writeHeaders(response: ServerResponse, headers: WriteHeadHeaders): void {
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers ?? {})) {
      if (value !== undefined) {
        response.setHeader(name, value);
      }
    }
    return;
  }
  const pairs = pairsOf(headers);
  pairs.forEach(([name]) => response.removeHeader(name));
  pairs.forEach(([name, value]) => response.appendHeader(name, toHeaderValue(value)));
}

function pairsOf(headers: OutgoingHttpHeader[]): [string, OutgoingHttpHeader][] {
  if (Array.isArray(headers[0])) {
    return headers as unknown as [string, OutgoingHttpHeader][];
  }
  if (headers.length % 2 !== 0) {
    const error = new TypeError('A list of headers must have a value for each name.');
    throw Object.assign(error, { code: 'ERR_INVALID_ARG_VALUE' });
  }
  return headers.flatMap((name, index) =>
    index % 2 === 0 ? [[String(name), headers[index + 1]!] as [string, OutgoingHttpHeader]] : [],
  );
}

export function toHeaderValue(value: OutgoingHttpHeader): HeaderValue {
  return Array.isArray(value) ? value.map(String) : String(value);
}
