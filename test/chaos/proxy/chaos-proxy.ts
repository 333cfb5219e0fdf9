import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

import type { Journal } from '../journal.js';
import type { Commit, CommitCut, CutPlan, StatementCut } from './cut-plan.js';
import { Link, type LinkOwner } from './link.js';
import type { Protocol } from './protocol.js';

/** The network between the servers and where their records are, which cuts connections off as it is told. */
export class ChaosProxy implements LinkOwner {
  readonly counts = { all: 0, inCommit: 0, inLeaseWrite: 0 };
  private readonly links = new Set<Link>();
  private armed: (CommitCut | StatementCut)[] = [];

  private constructor(
    private readonly server: Server,
    private readonly journal: Journal,
  ) {}

  /** @param protocol of one connection */
  static async start(port: number, protocol: () => Protocol, journal: Journal): Promise<ChaosProxy> {
    const server = createServer();
    const proxy = new ChaosProxy(server, journal);
    server.on('connection', (client) => {
      const link = new Link(client, port, protocol(), proxy);
      proxy.links.add(link);
      client.once('close', () => proxy.links.delete(link));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** The same address, by way of this proxy. */
  url(direct: string): string {
    const url = new URL(direct);
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  cut(plan: CutPlan): void {
    if (plan.moment !== 'any') {
      this.armed.push(plan);
      return;
    }
    const links = [...this.links];
    const chosen =
      plan.connection === 'all' ? links : links.slice(Math.floor(plan.connection * links.length)).slice(0, 1);
    for (const link of chosen) link.cutAfter(plan);
  }

  /** From now on nothing is cut off. */
  calm(): void {
    this.armed = [];
  }

  takeCommitCut(commit: Commit): CommitCut | undefined {
    return this.take((cut) => cut.moment === 'commit' && cut.of.includes(commit)) as CommitCut | undefined;
  }

  takeStatementCut(statements: number): StatementCut | undefined {
    return this.take((cut) => cut.moment === 'transaction' && cut.after === statements) as
      StatementCut | undefined;
  }

  wasCut(during: Commit | undefined, how: string): void {
    this.counts.all += 1;
    if (during === 'COMMIT') this.counts.inCommit += 1;
    if (during === 'lease write') this.counts.inLeaseWrite += 1;
    this.journal.note(`cut: a connection${during ? ` during a ${during}` : ''}, ${how}`);
  }

  private take(isMeant: (cut: CommitCut | StatementCut) => boolean): CommitCut | StatementCut | undefined {
    const index = this.armed.findIndex(isMeant);
    return index === -1 ? undefined : this.armed.splice(index, 1)[0];
  }

  async close(): Promise<void> {
    for (const link of this.links) link.close();
    this.server.close();
    await once(this.server, 'close');
  }
}
