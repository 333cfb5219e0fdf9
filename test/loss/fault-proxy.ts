import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What becomes of one request.
 *
 * - `drop-request`: the server never sees it
 * - `drop-response`: the server has answered, and nobody hears of it
 * - `tear-response`: half of the answer arrives
 * - `bad-gateway`: the server has answered, and the client gets a 502
 * - a number: milliseconds that the answer is late
 */
export type Fault = 'drop-request' | 'drop-response' | 'tear-response' | 'bad-gateway' | number;

interface Answer {
  head: IncomingMessage;
  body: Buffer;
}

/** A network between clients and a server that loses what it is told to. */
export class FaultProxy {
  readonly counts: Record<'requests' | Exclude<Fault, number>, number> = {
    requests: 0,
    'drop-request': 0,
    'drop-response': 0,
    'tear-response': 0,
    'bad-gateway': 0,
  };

  private constructor(
    private readonly server: Server,
    /** Of the server that it leads to. */
    private readonly target: () => string,
    private readonly nextFault: () => Fault | undefined,
  ) {
    server.on('request', (incoming, outgoing) => void this.handle(incoming, outgoing));
  }

  /** @param nextFault asked for each request */
  static async start(target: () => string, nextFault: () => Fault | undefined): Promise<FaultProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FaultProxy(server, target, nextFault);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    // The client may go at any time.
    outgoing.on('error', () => undefined);
    const fault = this.nextFault();
    this.counts.requests += 1;
    if (typeof fault === 'string') this.counts[fault] += 1;
    try {
      const body = await buffer(incoming);
      if (fault === 'drop-request') throw new Error('The request is lost.');
      const answer = await this.forward(incoming, body);
      if (fault === 'drop-response') throw new Error('The response is lost.');
      if (typeof fault === 'number') await sleep(fault);
      give(outgoing, answer, fault);
    } catch {
      outgoing.destroy();
    }
  }

  private async forward({ method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
    const forwarded = request(this.target() + url!, { method, headers, agent: false });
    const [head] = (await once(forwarded.end(body), 'response')) as [IncomingMessage];
    return { head, body: await buffer(head) };
  }
}

function give(outgoing: ServerResponse, { head, body }: Answer, fault: Fault | undefined): void {
  if (fault === 'bad-gateway') {
    outgoing.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>502 Bad Gateway</h1>');
    return;
  }
  outgoing.writeHead(head.statusCode!, head.rawHeaders);
  if (fault === 'tear-response') {
    outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy());
  } else {
    outgoing.end(body);
  }
}
