import { withinTime } from './time.js';

/** A request that can be sent again and again with the same bytes. */
export interface RepeatableRequest {
  /** For messages. */
  readonly name: string;
  /** Those of each attempt. */
  readonly headers: Headers;
  /** The caller's. */
  readonly signal: AbortSignal;
  send(fetcher: typeof fetch, signal: AbortSignal): Promise<Response>;
}

/**
 * Takes everything now, since the caller may change what it comes from before a retry.
 *
 * @param limit milliseconds for reading the body
 * @throws TypeError for a stream, and for what `fetch` would refuse, too
 */
export async function makeRepeatable(
  input: Parameters<typeof fetch>[0],
  init: RequestInit,
  limit: number,
): Promise<RepeatableRequest> {
  if (isStream(init.body)) {
    throw new TypeError('A stream can be sent only once: read it first, by `new Response(stream)`.');
  }
  const request = new Request(input, init);
  const { method, url, headers, signal } = request;
  const same = { ...init, method, headers };
  // As a Blob: Node loses the bytes of an ArrayBuffer that it sends, and cannot follow a redirect with them.
  const body = request.body ? await withinTime(limit, signal, () => request.blob()) : undefined;
  return {
    name: `${method} ${url}`,
    headers,
    signal,
    send: (fetcher, attempt) => fetcher(new Request(request, { ...same, body, signal: attempt })),
  };
}

function isStream(body: unknown): boolean {
  const object = Object(body) as object;
  return 'getReader' in object || Symbol.asyncIterator in object;
}
