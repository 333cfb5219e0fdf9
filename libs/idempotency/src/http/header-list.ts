import type { OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import type { HeaderValue } from '../engine/stored-response.js';

/** The third argument of `writeHead()`: an object, a flat list of names and values, or a list of pairs. */
export type WriteHeadHeaders = OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined;

export function headerPairs(headers: WriteHeadHeaders): [string, OutgoingHttpHeader][] {
  if (!Array.isArray(headers)) {
    return Object.entries(headers ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    );
  }
  if (Array.isArray(headers[0])) {
    return headers as unknown as [string, OutgoingHttpHeader][];
  }
  const pairs: [string, OutgoingHttpHeader][] = [];
  for (let index = 0; index < headers.length; index += 2) {
    pairs.push([String(headers[index]), headers[index + 1]!]);
  }
  return pairs;
}

export function toHeaderValue(value: OutgoingHttpHeader): HeaderValue {
  return Array.isArray(value) ? value.map(String) : String(value);
}
