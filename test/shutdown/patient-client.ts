import { setTimeout as sleep } from 'node:timers/promises';

import { Connection, type RawResponse } from '../support/connection.js';
import type { Work } from './settings.js';

export interface Intent {
  key: string;
  path: '/transaction' | '/lease';
  work: Work;
}

/** One sending of an intent: what came of it, and when, by `performance.now()`. */
export interface Sending {
  server: string;
  sentAt: number;
  endedAt: number;
  /** Undefined where the connection was refused or broke off. */
  answer?: RawResponse;
}

export interface Told extends Intent {
  sendings: Sending[];
  answer: RawResponse;
}

/**
 * Sends an intent with the same key until it has an answer that is not "later", to another server where one gives
 * none. Its connections stay open, as those of a client with a pool do.
 */
export class PatientClient {
  private connection: { server: string; open: Connection } | undefined;
  private turn = 0;

  /** @param servers their addresses, the one to begin with first */
  constructor(private readonly servers: string[]) {}

  async tell(intent: Intent): Promise<Told> {
    const sendings: Sending[] = [];
    for (;;) {
      const sending = await this.send(intent);
      sendings.push(sending);
      const { answer } = sending;
      if (answer && answer.status < 500 && answer.headers['retry-after'] === undefined) {
        return { ...intent, sendings, answer };
      }
      if (answer?.status !== 409) this.turn += 1;
      await sleep(100);
    }
  }

  close(): void {
    this.connection?.open.close();
    this.connection = undefined;
  }

  private async send({ path, key, work }: Intent): Promise<Sending> {
    const server = this.servers[this.turn % this.servers.length]!;
    const sentAt = performance.now();
    try {
      const connection = await this.connect(server);
      connection.post(path, key, work);
      const answer = await connection.read();
      return { server, sentAt, endedAt: performance.now(), answer };
    } catch {
      this.close();
      return { server, sentAt, endedAt: performance.now() };
    }
  }

  private async connect(server: string): Promise<Connection> {
    if (this.connection?.server !== server) {
      this.close();
      this.connection = { server, open: await Connection.open(server) };
    }
    return this.connection.open;
  }
}
