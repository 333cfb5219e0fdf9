import { randomUUID } from 'node:crypto';

import { CREATED, type BurstResult, type KeySet, type Run, type RunResult, type Target } from './answers.js';
import { type Answer, Connection } from './connection.js';
import { Tally } from './tally.js';

/** Sends on all of its connections, on each the next request when the one before is answered. */
export class Load {
  private readonly connections: Connection[];
  private isStopped = false;

  constructor({ url, path, connections, bodyBytes }: Target) {
    const order = { item: 'kibble', amount: 100 };
    const missing = bodyBytes - JSON.stringify(order).length;
    const body = JSON.stringify({ ...order, item: order.item + 'x'.repeat(Math.max(0, missing)) });
    this.connections = Array.from({ length: connections }, () => new Connection(url, path, body));
  }

  async run({ seconds = Infinity, keys }: Run): Promise<RunResult> {
    this.isStopped = false;
    const tally = new Tally();
    const begin = performance.now();
    const end = begin + seconds * 1_000;
    // Of a run that is told to stop, the last answer before that.
    let lastInTime = begin;
    const isOver = (): boolean => this.isStopped || performance.now() >= end;
    await this.sendWhile(keysOf(keys), isOver, (answer) => {
      const isInTime = !isOver();
      if (isInTime) lastInTime = performance.now();
      tally.add(answer, isInTime);
    });
    return tally.result(Number.isFinite(seconds) ? seconds : (lastInTime - begin) / 1_000);
  }

  stop(): void {
    this.isStopped = true;
  }

  async sendEach(keys: KeySet): Promise<RunResult> {
    const tally = new Tally();
    const begin = performance.now();
    let sent = 0;
    await this.sendWhile(
      keysOf(keys),
      () => (sent += 1) > keys.count,
      (answer) => tally.add(answer, true),
    );
    return tally.result((performance.now() - begin) / 1_000);
  }

  async burst(): Promise<BurstResult> {
    const key = randomUUID();
    const answers = await Promise.all(
      this.connections.map((connection) => new Promise<Answer>((resolve) => connection.send(key, resolve))),
    );
    const tally = new Tally();
    answers.forEach((answer) => tally.add(answer, true));
    return {
      statuses: tally.statuses,
      firsts: answers.filter(isFirst).length,
      duplicates: answers.filter((answer) => !isFirst(answer)).map(({ took }) => took),
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.close()));
  }

  private async sendWhile(
    nextKey: () => string,
    isOver: () => boolean,
    onAnswer: (answer: Answer) => void,
  ): Promise<void> {
    const sendOn = (connection: Connection): Promise<void> =>
      new Promise((resolve) => {
        const next = (): void => {
          if (isOver()) return resolve();
          connection.send(nextKey(), (answer) => {
            onAnswer(answer);
            next();
          });
        };
        next();
      });
    await Promise.all(this.connections.map(sendOn));
  }
}

/** Of requests with one key, the one that was executed. */
function isFirst({ status, isReplayed }: Answer): boolean {
  return status === CREATED && !isReplayed;
}

function keysOf(keys: KeySet | undefined): () => string {
  if (!keys) return randomUUID;
  let number = 0;
  return () => `${keys.prefix}-${number++ % keys.count}`;
}
