import { connect, type Socket } from 'node:net';

import { FrontendMessages, type FrontendMessage } from '../../support/frontend-messages.js';
import { CommitWatch } from './commit-watch.js';
import type { ByteCut, Commit, CommitCut, StatementCut } from './cut-plan.js';
import { isInTransaction } from './ready-for-query.js';

/** What the links of one proxy have in common. */
export interface LinkOwner {
  /** The cut that is meant for this commit, if there is one. */
  takeCommitCut(commit: Commit): CommitCut | undefined;
  /** The cut that is meant for a transaction after so many statements, if there is one. */
  takeStatementCut(statements: number): StatementCut | undefined;
  /** A link was cut off; `during` is the commit that had been sent and not been answered. */
  wasCut(during: Commit | undefined, how: string): void;
}

/** A byte cut on a connection that stands still happens after this many milliseconds. */
const PATIENCE_WITH_SILENCE = 1_000;

/** A client's connection, and the one to the server that belongs to it. */
export class Link {
  private readonly server: Socket;
  private readonly messages = new FrontendMessages();
  private readonly commits = new CommitWatch();
  private unanswered: Commit | undefined;
  private answerCut: CommitCut | undefined;
  private byteCut: { direction: ByteCut['direction']; bytes: number } | undefined;
  /** Of the transaction that is open. */
  private statements = 0;
  private isCut = false;

  constructor(
    private readonly client: Socket,
    port: number,
    private readonly owner: LinkOwner,
  ) {
    this.server = connect(port, '127.0.0.1').setNoDelay();
    client.setNoDelay();
    // In order: what the client had sent before it went is carried out, as without a proxy.
    client
      .on('error', () => undefined)
      .on('close', () => {
        if (!this.isCut) this.server.end();
      });
    this.server.on('error', () => undefined).on('close', () => client.destroy());
    client.on('data', (chunk: Buffer) => {
      for (const message of this.messages.push(chunk)) if (!this.isCut) this.fromClient(message);
    });
    this.server.on('data', (chunk: Buffer) => this.fromServer(chunk));
  }

  /** Cuts it off when so many more bytes have passed. */
  cutAfter({ direction, bytes }: ByteCut): void {
    this.byteCut = { direction, bytes };
    const timer = setTimeout(() => this.cut('while it stood still'), PATIENCE_WITH_SILENCE);
    this.client.once('close', () => clearTimeout(timer));
  }

  close(): void {
    this.client.destroy();
    this.server.destroy();
  }

  private fromClient(message: FrontendMessage): void {
    const commit = this.commits.commitOf(message);
    const cut = commit && this.owner.takeCommitCut(commit);
    this.unanswered = commit ?? this.unanswered;
    if (cut) this.cutCommit(message.bytes, cut);
    else if (this.passes('to the server', message.bytes, this.server)) this.server.write(message.bytes);
  }

  private fromServer(chunk: Buffer): void {
    if (this.isCut || this.answerCut?.fate === 'silent') return;
    if (this.answerCut) {
      this.client.write(chunk.subarray(0, Math.floor(this.answerCut.part * chunk.length)));
      this.cut('in its answer');
      return;
    }
    this.statements = isInTransaction(chunk) ? this.statements + 1 : 0;
    const cut = this.statements > 0 ? this.owner.takeStatementCut(this.statements) : undefined;
    if (cut) {
      this.client.write(chunk.subarray(0, Math.floor(cut.part * chunk.length)));
      this.cut(`in a transaction, after statement ${this.statements}`);
    } else if (this.passes('to the client', chunk, this.client)) {
      // A client of Postgres sends nothing else until its COMMIT is answered, so these bytes are the answer.
      this.unanswered = undefined;
      this.client.write(chunk);
    }
  }

  private cutCommit(bytes: Buffer, cut: CommitCut): void {
    switch (cut.fate) {
      case 'lost':
        this.server.write(bytes.subarray(0, Math.floor(cut.part * bytes.length)));
        this.cut('before it arrived');
        break;
      case 'cut':
        this.server.write(bytes);
        this.cut('when it had been forwarded');
        break;
      case 'late':
        this.cut(`${cut.delay} ms before it arrived`, (server) => {
          setTimeout(() => server.end(bytes), cut.delay).unref();
        });
        break;
      case 'unanswered':
        this.server.write(bytes);
        this.answerCut = cut;
        break;
      case 'silent':
        this.server.write(bytes);
        this.answerCut = cut;
        setTimeout(() => this.cut(`${cut.delay} ms after it was forwarded`), cut.delay).unref();
        break;
    }
  }

  /** Whether all of these bytes may pass; if not, those that may are written, and the link is cut. */
  private passes(direction: ByteCut['direction'], bytes: Buffer, to: Socket): boolean {
    if (this.byteCut?.direction !== direction) return true;
    const left = this.byteCut.bytes;
    this.byteCut.bytes -= bytes.length;
    if (left >= bytes.length) return true;
    to.write(bytes.subarray(0, left));
    this.cut(`${direction}, ${left} bytes into a message`);
    return false;
  }

  private cut(how: string, endServer: (server: Socket) => void = (server) => server.end()): void {
    if (this.isCut) return;
    this.isCut = true;
    // What was just written to the client is sent first, unlike with a reset.
    this.client.destroySoon();
    endServer(this.server);
    this.owner.wasCut(this.unanswered, how);
  }
}
