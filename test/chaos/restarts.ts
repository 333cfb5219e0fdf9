/** A server that can be stopped as by a crash, and comes back on the same port. */
export interface RestartableServer {
  readonly name: string;
  readonly port: number;
  /** One restart after the other. */
  restart(downFor: number): Promise<void>;
  /** Returns when no restart is under way. @throws Error of one that failed */
  restarted(): Promise<void>;
}

/** Restarts of one server, in turn. */
export class Restarts {
  private last: Promise<void> = Promise.resolve();

  /** @param restart stops the server, and starts it again after so many milliseconds */
  constructor(private readonly restart: (downFor: number) => Promise<void>) {}

  add(downFor: number): Promise<void> {
    this.last = this.last.then(() => this.restart(downFor));
    // Thrown by `over()`.
    this.last.catch(() => undefined);
    return this.last;
  }

  over(): Promise<void> {
    return this.last;
  }
}
