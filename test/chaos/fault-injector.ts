import { setTimeout as sleep } from 'node:timers/promises';

import type { Journal } from './journal.js';
import type { ChaosProxy } from './proxy/chaos-proxy.js';
import type { RestartableServer } from './restarts.js';
import type { ScheduledFault } from './schedule.js';
import type { ServerProcess } from './servers/server-process.js';

/** How often a fault happened, and how often it met a request. */
export interface FaultCount {
  all: number;
  inFlight: number;
}

/** Carries a schedule out. */
export class FaultInjector {
  readonly counts: Record<'kill' | 'stall' | 'restart', FaultCount> = {
    kill: { all: 0, inFlight: 0 },
    stall: { all: 0, inFlight: 0 },
    restart: { all: 0, inFlight: 0 },
  };

  constructor(
    /** Has the idempotency records. */
    private readonly store: RestartableServer,
    private readonly proxy: ChaosProxy,
    private readonly servers: readonly ServerProcess[],
    private readonly journal: Journal,
  ) {}

  /** Returns when the last fault has been made, or the signal comes. */
  async run(schedule: readonly ScheduledFault[], signal: AbortSignal): Promise<void> {
    const begin = this.journal.now();
    for (const fault of schedule) {
      const pause = begin + fault.at - this.journal.now();
      await sleep(Math.max(0, pause), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      this.inject(fault);
    }
  }

  /** Undoes what lasts: everything works again when this returns. */
  async end(): Promise<void> {
    this.proxy.calm();
    for (const server of this.servers) server.resume();
    await this.store.restarted();
  }

  private inject(fault: ScheduledFault): void {
    switch (fault.kind) {
      case 'kill':
        return this.kill(this.choose(fault.server), fault.downFor);
      case 'stall':
        return this.stall(this.choose(fault.server), fault.duration);
      case 'restart':
        return this.restart(fault.downFor);
      case 'cut':
        return this.proxy.cut(fault.plan);
    }
  }

  /** The server that was drawn, or the next one that runs. */
  private choose(drawn: number): ServerProcess | undefined {
    const inOrder = [...this.servers.slice(drawn), ...this.servers.slice(0, drawn)];
    return inOrder.find((server) => server.isReady);
  }

  private kill(server: ServerProcess | undefined, downFor: number): void {
    if (!server) return;
    this.count('kill', `${server.name}, with ${server.inFlight} requests in flight`, server.inFlight);
    server.kill(downFor);
  }

  private stall(server: ServerProcess | undefined, duration: number): void {
    if (!server) return;
    const text = `${server.name} for ${duration} ms, with ${server.inFlight} requests in flight`;
    this.count('stall', text, server.inFlight);
    server.stall(duration);
  }

  private restart(downFor: number): void {
    const inFlight = this.servers.reduce((sum, server) => sum + server.inFlight, 0);
    const { name } = this.store;
    this.count('restart', `${name} for ${downFor} ms, with ${inFlight} requests in flight`, inFlight);
    void this.store.restart(downFor).then(
      () => this.journal.note(`${name} is back`),
      () => undefined,
    );
  }

  private count(kind: keyof FaultInjector['counts'], text: string, inFlight: number): void {
    this.journal.note(`${kind}: ${text}`);
    this.counts[kind].all += 1;
    if (inFlight > 0) this.counts[kind].inFlight += 1;
  }
}
