import { once } from 'node:events';

import { Child } from '../processes/child.js';
import { SETTINGS, type ServerSettings } from '../processes/settings.js';
import type { ServerCommand, ServerMessage } from './settings.js';

/** Milliseconds within which a server must be gone: the ten seconds that it waits for handlers, and some more. */
const LIMIT = 20_000;

export interface ServerEnd {
  /** How the process ended by itself, if it did. */
  by: number | NodeJS.Signals | 'nothing: it had to be killed';
  /** Whether its shutdown had come to the end before. */
  closed: boolean;
  output: string;
}

/** A server in a process of its own, see `server.ts`, that is told to stop. */
export class StoppableServer {
  private readonly isOver: Promise<unknown>;

  private constructor(
    private readonly child: Child<ServerMessage>,
    readonly url: string,
  ) {
    // All that it has said has arrived then.
    this.isOver = once(child.process, 'close');
  }

  static async start(settings: ServerSettings): Promise<StoppableServer> {
    const env = { [SETTINGS]: JSON.stringify(settings) };
    const child = new Child<ServerMessage>({ script: '../shutdown/server.ts', env });
    const message = await child.message();
    if (message.type !== 'listening') throw new Error(`Unexpected message ${message.type}.`);
    return new StoppableServer(child, message.url);
  }

  /** Waits until one more handler has begun. @returns its intent */
  async begun(): Promise<string> {
    const message = await this.child.message();
    if (message.type !== 'begun') throw new Error(`Unexpected message ${message.type}.`);
    return message.intent;
  }

  terminate(): void {
    this.child.signal('SIGTERM');
  }

  /** `app.close()`: nothing ends the process after it but that it has nothing to do any more. */
  close(): void {
    this.child.process.send({ close: true } satisfies ServerCommand);
  }

  /** Waits for it as long as it may take. */
  async end(): Promise<ServerEnd> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<ServerEnd['by']>((resolve) => {
      timer = setTimeout(() => resolve('nothing: it had to be killed'), LIMIT);
    });
    const by = await Promise.race([this.child.ended, limit]);
    clearTimeout(timer);
    await this.child.kill();
    await this.isOver;
    return { by, closed: await this.hasClosed(), output: this.child.output };
  }

  kill(): Promise<void> {
    return this.child.kill();
  }

  private async hasClosed(): Promise<boolean> {
    for (;;) {
      const message = await this.child.message().catch(() => undefined);
      if (message?.type !== 'begun') return message !== undefined;
    }
  }
}
