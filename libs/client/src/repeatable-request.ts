/** A request that can be sent again and again with the same bytes. */
export interface RepeatableRequest {
  /** As given, for messages. */
  readonly name: string;
  readonly headers: Headers;
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
  send(fetcher: typeof fetch, signal: AbortSignal): Promise<Response>;
}

type Input = Parameters<typeof fetch>[0];

/**
 * Takes the body's bytes now, since the caller may change what they come from before a retry.
 *
 * @throws TypeError for a stream
 */
export async function makeRepeatable(input: Input, init: RequestInit): Promise<RepeatableRequest> {
  if (isStream(init.body)) {
    throw new TypeError('A stream can be sent only once: read it first, by `new Response(stream)`.');
  }
  if (input instanceof Request) {
    const request = new Request(input, init);
    const body = request.body ? await request.arrayBuffer() : undefined;
    return {
      name: `${request.method} ${request.url}`,
      headers: request.headers,
      signal: request.signal,
      send: (fetcher, signal) => fetcher(new Request(request, { method: request.method, body, signal })),
    };
  }
  const headers = new Headers(init.headers);
  const body = await bytesOf(init.body, headers);
  return {
    name: `${init.method ?? 'GET'} ${input}`,
    headers,
    signal: init.signal ?? undefined,
    send: (fetcher, signal) => fetcher(input, { ...init, headers, body, signal }),
  };
}

/** Also gives the type that belongs to the body: the boundary of a form is made with its bytes. */
async function bytesOf(body: RequestInit['body'], headers: Headers): Promise<ArrayBuffer | undefined> {
  if (body === undefined || body === null) {
    return undefined;
  }
  const held = new Response(body);
  const type = held.headers.get('content-type');
  if (type !== null && !headers.has('content-type')) {
    headers.set('content-type', type);
  }
  return held.arrayBuffer();
}

function isStream(body: unknown): boolean {
  const object = Object(body) as object;
  return 'getReader' in object || Symbol.asyncIterator in object;
}
