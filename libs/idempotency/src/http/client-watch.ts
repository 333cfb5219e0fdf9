import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/**
 * Notices that a held response will never end. The client's departure is hidden from the application, which goes
 * on; but Nest stops a stream with its connection, and nobody else would notice.
 */
export class ClientWatch {
  private hasLeft = false;
  private patience: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private pipelinedOn: Socket | undefined;

  /** @param onStandstill called when the client has gone and no end of the response is to be expected */
  constructor(
    private readonly response: ServerResponse,
    private readonly onStandstill: () => void,
  ) {}

  /** @param patience milliseconds that the response may stand still from now on */
  expectEnd(patience: number): void {
    if (this.patience === undefined && !this.response.socket) {
      // A pipelined response that still waits for its turn hears nothing of its connection.
      this.pipelinedOn = this.response.req?.socket;
      this.pipelinedOn?.once('close', this.clientLeft);
    }
    this.patience = patience;
    this.start();
  }

  /** Something came. */
  touch(): void {
    this.timer?.refresh();
  }

  /** A stream that is closed before its end has nothing more to send. */
  watchSource(source: Readable): void {
    const closed = (): void => {
      if (this.isGone && !source.readableEnded) {
        this.onStandstill();
      }
    };
    // Later, since whoever hears of the close first may end the response by itself.
    source.once('close', () => setImmediate(closed));
    if (source.closed) {
      setImmediate(closed);
    }
  }

  /** Whether it is Node that destroys the response: newer versions do so with those that wait for their turn. */
  isLostWith(error: unknown): boolean {
    const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
    return code === 'ECONNRESET' && message === 'aborted' && !this.response.socket && this.isGone;
  }

  readonly clientLeft = (): void => {
    this.hasLeft = true;
    this.start();
  };

  stop(): void {
    clearTimeout(this.timer);
    this.pipelinedOn?.removeListener('close', this.clientLeft);
    this.patience = undefined;
  }

  /** It may have gone before the handler was entered. */
  private get isGone(): boolean {
    return this.hasLeft || this.response.req?.socket?.destroyed === true;
  }

  private start(): void {
    if (this.isGone && this.patience !== undefined) {
      clearTimeout(this.timer);
      this.timer = setTimeout(this.onStandstill, this.patience);
    }
  }
}
