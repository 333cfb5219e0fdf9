import { canonicalJson } from './canonical-json.js';
import { hashParts } from './hashing.js';

/** An uploaded file that is in memory. */
export interface FingerprintFile {
  readonly field: string;
  readonly name: string;
  readonly type: string;
  readonly content: Uint8Array;
}

/** What a retry must repeat. */
export interface FingerprintInput {
  readonly method: string;
  /** The concrete path, so that `/orders/1/pay` and `/orders/2/pay` differ. */
  readonly path: string;
  /** The raw query string, without `?`. */
  readonly query: string;
  /** Media type without parameters: a multipart boundary differs in every attempt. */
  readonly contentType: string;
  /** As parsed, before pipes; `undefined` where there is none. */
  readonly body: unknown;
  readonly files?: readonly FingerprintFile[];
}

/**
 * Hash of what a retry must repeat. Objects count by RFC 8785, so the order of their keys does not matter.
 *
 * @throws TypeError for a body that is not JSON (a cycle, a BigInt)
 */
export function fingerprintOf(input: FingerprintInput): Buffer {
  const files = (input.files ?? []).flatMap(({ field, name, type, content }) => [field, name, type, content]);
  return hashParts('fingerprint/1', [
    input.method.toUpperCase(),
    input.path,
    sortQuery(input.query),
    input.contentType.toLowerCase(),
    ...canonicalBody(input.body),
    ...files,
  ]);
}

/** Names in order; the values of one name keep theirs, which may carry meaning. */
function sortQuery(query: string): string {
  if (query === '') {
    return query;
  }
  const pairs = query.split('&').map((pair) => pair.split(/=(.*)/s, 2).map(sameEncoding));
  pairs.sort(([a = ''], [b = '']) => (a === b ? 0 : a < b ? -1 : 1));
  return pairs.map((pair) => pair.join('=')).join('&');
}

/** One way to write each text; bytes that are not UTF-8 stay as sent, or decoding would make one of them all. */
function sameEncoding(text: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(text.replaceAll('+', ' ')));
  } catch {
    return text;
  }
}

/** The first element names the kind, so that the text `{}` and an empty object differ. */
function canonicalBody(body: unknown): [kind: string, content: string | Uint8Array] {
  if (body === undefined || body === null) {
    return ['none', ''];
  }
  if (body instanceof Uint8Array) {
    return ['bytes', body];
  }
  if (typeof body === 'string') {
    return ['text', body];
  }
  return ['json', canonicalJson(body)];
}
