import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';

export interface HttpRequest {
  /** @default 'POST' */
  method?: string;
  /** Path and query. @default '/' */
  path?: string;
  /** Several values make several header lines. */
  headers?: Record<string, string | string[]>;
  /** An object is sent as JSON; text and bytes are sent as they are. */
  body?: string | Uint8Array | object;
  /** Breaks the connection off, as a client that gives up does. */
  signal?: AbortSignal;
}

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** Names and values in turn, as received. */
  rawHeaders: string[];
  body: Buffer;
  text: string;
  json<T = any>(): T;
}

/** One request on a connection of its own. The body of the answer is kept as bytes. */
export async function send(url: string, options: HttpRequest = {}): Promise<HttpResponse> {
  const { method = 'POST', path = '/', headers = {}, signal } = options;
  const { body, type } = encode(options.body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request(url + path, { method, agent: false, ...(signal && { signal }) });
    if (type) outgoing.setHeader('Content-Type', type);
    for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
    outgoing.once('response', resolve).once('error', reject).end(body);
  });
  const received = await buffer(response);
  const receivedText = received.toString('utf8');
  return {
    status: response.statusCode!,
    headers: response.headers,
    rawHeaders: response.rawHeaders,
    body: received,
    text: receivedText,
    json: () => JSON.parse(receivedText),
  };
}

/**
 * Sends a whole request as it is written, for bytes that Node's client refuses to send. It should contain
 * `Connection: close`. Returns the answer with its head, one character per byte.
 */
export async function sendRaw(url: string, message: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(message, 'latin1');
  return text(socket.setEncoding('latin1'));
}

/** Bytes even for text: Node would otherwise write the header lines in UTF-8 too, along with the body. */
function encode(body: HttpRequest['body']): { body?: Uint8Array; type?: string } {
  if (body === undefined || body instanceof Uint8Array) return { body };
  if (typeof body === 'string') return { body: Buffer.from(body) };
  return { body: Buffer.from(JSON.stringify(body)), type: 'application/json' };
}
