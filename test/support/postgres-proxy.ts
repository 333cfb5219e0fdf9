import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { FrontendMessages, type FrontendMessage } from './frontend-messages.js';

/**
 * What becomes of a message that ends in COMMIT, and of its connection:
 *
 * - `lost`: cut off before the message reaches the server
 * - `unanswered`: forwarded, and cut off when the server has answered
 * - `cut`: forwarded, and cut off at once, while the server is still at work
 * - `swallowed`: forwarded, and the answer never comes
 */
export type CommitFate = 'lost' | 'unanswered' | 'cut' | 'swallowed';

/** A network between the app and Postgres that can fail. */
export interface PostgresProxy {
  /** Leads to the database by way of the proxy. */
  url: string;
  /** How many connections are open. */
  connections(): number;
  /** Decides on the next COMMIT alone; called when it happens, for example to make the network fail from then on. */
  onCommit(fate: CommitFate, meanwhile?: () => void): void;
  /** Whether a COMMIT that `onCommit()` speaks of has still to come. */
  isCommitAwaited(): boolean;
  /** Cuts all connections and refuses new ones. */
  goDown(): void;
  /** Accepts connections and never answers; those that are open stand still. */
  goSilent(): void;
  /** Works again; what stood still is cut off. */
  recover(): void;
  close(): Promise<void>;
}

export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const pairs = new Set<Pair>();
  let mode: 'up' | 'down' | 'silent' = 'up';
  let next: { fate: CommitFate; meanwhile?: () => void } | undefined;

  const takeNext = () => {
    const taken = next;
    next = undefined;
    return taken;
  };
  const server = createServer((client) => {
    if (mode === 'down') {
      client.resetAndDestroy();
      return;
    }
    const pair = new Pair(client, target, takeNext, mode === 'silent');
    pairs.add(pair);
    pair.client.once('close', () => pairs.delete(pair));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);

  const cutAll = () => pairs.forEach((pair) => pair.cut());
  return {
    url: url.href,
    connections: () => pairs.size,
    onCommit: (fate, meanwhile) => {
      next = { fate, meanwhile };
    },
    isCommitAwaited: () => next !== undefined,
    goDown() {
      mode = 'down';
      cutAll();
    },
    goSilent() {
      mode = 'silent';
      pairs.forEach((pair) => pair.silence());
    },
    recover() {
      if (mode === 'silent') cutAll();
      mode = 'up';
    },
    async close() {
      cutAll();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A client's connection and the one to the server that belongs to it. */
class Pair {
  private readonly server: Socket;
  private readonly messages = new FrontendMessages();
  private answer: 'forward' | 'drop' | 'cut' = 'forward';

  constructor(
    readonly client: Socket,
    target: URL,
    private readonly takeNext: () => { fate: CommitFate; meanwhile?: () => void } | undefined,
    isSilent: boolean,
  ) {
    this.server = connect(Number(target.port || 5432), target.hostname);
    client.on('error', () => undefined).on('close', () => this.server.destroy());
    this.server.on('error', () => undefined).on('close', () => client.destroy());
    client.on('data', (chunk: Buffer) => {
      for (const message of this.messages.push(chunk)) this.forward(message);
    });
    this.server.on('data', (chunk: Buffer) => {
      if (this.answer === 'forward') client.write(chunk);
      if (this.answer === 'cut') this.cut();
    });
    if (isSilent) this.silence();
  }

  /** The server's side is closed in order: what it was sent before, it carries out. */
  cut(): void {
    this.client.resetAndDestroy();
    this.server.end();
  }

  silence(): void {
    this.client.pause();
    this.answer = 'drop';
  }

  private forward({ bytes, query }: FrontendMessage): void {
    const decision = /(?:^|; )COMMIT$/.test(query?.trimEnd() ?? '') ? this.takeNext() : undefined;
    if (decision?.fate === 'lost') {
      this.client.resetAndDestroy();
      this.server.destroy();
    } else {
      this.server.write(bytes);
    }
    if (decision?.fate === 'unanswered') this.answer = 'cut';
    if (decision?.fate === 'swallowed') this.answer = 'drop';
    if (decision?.fate === 'cut') this.cut();
    decision?.meanwhile?.();
  }
}
