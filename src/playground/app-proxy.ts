import { once } from 'node:events';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { FAULT_HEADER, readFault } from './fault.js';
import { ProductLock } from './product-lock.js';

const SLOW_MS = 10_000;

export interface AppUnderFaults {
  /** Of the app. */
  url: string;
  databaseUrl: string;
  /** At once, as by a power failure. It is started again by itself. */
  kill(): void;
}

interface Answer {
  head: IncomingMessage;
  body: Buffer;
}

/** Of one connection, not of the request. RFC 9110, section 7.6.1. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'];

/** Passes requests on to the app, and makes go wrong what the page asks for. */
export class AppProxy {
  /** One at a time, of the request that took it: those that come meanwhile wait for it anyway. */
  private lock: Promise<ProductLock> | undefined;

  constructor(private readonly app: AppUnderFaults) {}

  async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    // The client gives up when it likes; the request goes on.
    outgoing.on('error', () => undefined);
    try {
      const body = await buffer(incoming);
      const { head, body: answer } = await this.forward(incoming, body);
      outgoing.writeHead(head.statusCode!, head.rawHeaders).end(answer);
    } catch {
      // What is lost on the way is lost without a word.
      outgoing.destroy();
    }
  }

  private async forward(incoming: IncomingMessage, body: Buffer): Promise<Answer> {
    switch (readFault(incoming.headers[FAULT_HEADER])) {
      case 'lose-response':
        await this.send(incoming, body);
        throw new Error('The response is lost.');
      case 'slow':
        // Not awaited to its end when the app dies meanwhile, and then it keeps no process.
        return this.whileLocked(incoming, body, () => sleep(SLOW_MS, undefined, { ref: false }));
      case 'kill':
        return this.whileLocked(incoming, body, async (lock) => {
          if (await lock.isWaitedFor()) this.app.kill();
        });
      case undefined:
        return this.send(incoming, body);
    }
  }

  /** The app gets to the lock, and `work` happens; then whoever took the lock releases it. */
  private async whileLocked(
    incoming: IncomingMessage,
    body: Buffer,
    work: (lock: ProductLock) => Promise<unknown>,
  ): Promise<Answer> {
    const isMine = this.lock === undefined;
    const taking = (this.lock ??= ProductLock.take(this.app.databaseUrl));
    let answering: Promise<Answer>;
    try {
      const lock = await taking;
      answering = this.send(incoming, body);
      // An app that is down does not get to the lock, nor does a request whose key is in use there.
      await Promise.race([work(lock), answering]);
    } finally {
      if (isMine) await this.release(taking);
    }
    return answering;
  }

  /** Whoever comes from now on takes a lock anew. */
  private async release(taken: Promise<ProductLock>): Promise<void> {
    this.lock = undefined;
    await (await taken).release();
  }

  private async send({ method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
    const passedOn = Object.entries(headers).filter(
      ([name]) => ![...HOP_BY_HOP, FAULT_HEADER].includes(name),
    );
    const sent = request(this.app.url + url!, {
      method,
      headers: { ...Object.fromEntries(passedOn), 'content-length': body.byteLength },
      agent: false,
    });
    const [head] = (await once(sent.end(body), 'response')) as [IncomingMessage];
    return { head, body: await buffer(head) };
  }
}
