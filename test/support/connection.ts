import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

export interface RawResponse {
  status: number;
  /** Values by name in lower case; of several lines with one name the last. */
  headers: Record<string, string>;
  body: string;
}

/**
 * A connection that stays open, on which requests can be sent before the answers to earlier ones have come.
 * Text is one character per byte.
 */
export class Connection {
  private received = '';

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1').on('data', (text: string) => (this.received += text));
    socket.on('error', () => undefined);
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Sends JSON in one packet with whatever is sent in the same turn. */
  post(path: string, key: string, body: object = {}): void {
    const text = JSON.stringify(body);
    this.socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Idempotency-Key: ${key}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }

  /** The next answer. @throws when the connection ends before it is complete */
  async read(): Promise<RawResponse> {
    for (;;) {
      const found = parse(this.received);
      if (found) {
        this.received = this.received.slice(found.length);
        return found.response;
      }
      if (this.socket.destroyed || this.socket.readableEnded) {
        throw new Error(`The connection ended after: ${JSON.stringify(this.received)}`);
      }
      await Promise.race([once(this.socket, 'data'), once(this.socket, 'close')]);
    }
  }

  /** What was received and not read. */
  get rest(): string {
    return this.received;
  }

  close(): void {
    this.socket.destroy();
  }
}

function parse(text: string): { response: RawResponse; length: number } | undefined {
  const headLength = text.indexOf('\r\n\r\n') + 4;
  if (headLength < 4) return undefined;
  const [statusLine, ...lines] = text.slice(0, headLength - 4).split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => split(line)));
  const body = parseBody(text.slice(headLength), headers);
  if (!body) return undefined;
  const status = Number(statusLine!.split(' ')[1]);
  return { response: { status, headers, body: body.text }, length: headLength + body.length };
}

function split(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

function parseBody(
  text: string,
  headers: Record<string, string>,
): { text: string; length: number } | undefined {
  if (headers['transfer-encoding'] !== 'chunked') {
    const length = Number(headers['content-length'] ?? 0);
    return text.length < length ? undefined : { text: text.slice(0, length), length };
  }
  let body = '';
  let position = 0;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', position);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(text.slice(position, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (text.length < next) return undefined;
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    position = next;
    if (size === 0) return { text: body, length: position };
  }
}
