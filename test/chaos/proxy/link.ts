import { connect, type Socket } from 'node:net';

import type { ByteCut, Commit, CommitCut, StatementCut } from './cut-plan.js';
import type { ClientMessage, Protocol } from './protocol.js';

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
  private unanswered: Commit | undefined;
  private answerCut: CommitCut | undefined;
  private byteCut: { direction: ByteCut['direction']; bytes: number } | undefined;
  /** Of the transaction that is open. */
  private statements = 0;
  private isCut = false;

  constructor(
    private readonly client: Socket,
    port: number,
    private readonly protocol: Protocol,
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
      for (const message of this.protocol.messages(chunk)) if (!this.isCut) this.fromClient(message);
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

  private fromClient({ bytes, commit }: ClientMessage): void {
    // A client that does not wait for answers may send another commit while one is to be cut off.
    const cut = commit && !this.answerCut ? this.owner.takeCommitCut(commit) : undefined;
    this.unanswered = commit ?? this.unanswered;
    if (cut) this.cutCommit(bytes, cut);
    else if (this.passes('to the server', bytes, this.server)) this.server.write(bytes);
  }

  private fromServer(chunk: Buffer): void {
    if (this.isCut || this.answerCut?.fate === 'silent') return;
    if (this.answerCut) {
      this.client.write(chunk.subarray(0, Math.floor(this.answerCut.part * chunk.length)));
      this.cut('in its answer');
      return;
    }
    this.statements = this.protocol.isInTransaction(chunk) ? this.statements + 1 : 0;
    const cut = this.statements > 0 ? this.owner.takeStatementCut(this.statements) : undefined;
    if (cut) {
      this.client.write(chunk.subarray(0, Math.floor(cut.part * chunk.length)));
      this.cut(`in a transaction, after statement ${this.statements}`);
    } else if (this.passes('to the client', chunk, this.client)) {
      // A client of Postgres sends nothing else until its COMMIT is answered, so these bytes are the answer. With Redis
      // they may be the answer to an earlier command; then a cut is counted as less than it was.
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
