import type { ServerResponse } from 'node:http';

/**
 * Notices that a held response will never end. The client's departure is hidden from the application, which goes on;
 * but a stream that was stopped with its connection does not, and nobody else would notice.
 */
export class ClientWatch {
  private clientGone = false;
  private patience: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param onQuiet called when the client has gone and nothing has come for the time of `expectEnd()` */
  constructor(
    private readonly response: ServerResponse,
    private readonly onQuiet: () => void,
  ) {}

  /** @param patience milliseconds that may pass between two pieces of the response from now on */
  expectEnd(patience: number): void {
    this.patience = patience;
    // A pipelined response that still waits for its turn hears nothing of its connection.
    this.response.req?.socket?.once('close', this.clientLeft);
    this.start();
  }

  /** Something came. */
  touch(): void {
    this.timer?.refresh();
  }

  readonly clientLeft = (): void => {
    this.clientGone = true;
    this.start();
  };

  stop(): void {
    clearTimeout(this.timer);
    this.response.req?.socket?.removeListener('close', this.clientLeft);
    this.patience = undefined;
  }

  private start(): void {
    if (this.clientGone && this.patience !== undefined) {
      clearTimeout(this.timer);
      this.timer = setTimeout(this.onQuiet, this.patience);
    }
  }
}
