import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';

/** A statement that is about to be sent. */
export interface Statement {
  text: string;
  /** Process id of the server that will execute it. */
  server: number;
  /** Sends it, or else this SQL on the same connection. */
  send(instead?: string): Promise<unknown>;
}

/** Sends a statement when its time has come. */
export type Conductor = (statement: Statement) => Promise<unknown>;

/** Who conducts the statements of an operation; those of all others are sent at once. */
export const conductor = new AsyncLocalStorage<Conductor>();

/** A connection whose statements wait until they are told to go. */
export class TurnTakingClient extends pg.Client {
  declare readonly processID: number;

  override query(...message: any[]): any {
    const sendNow = super.query.bind(this) as (...args: unknown[]) => Promise<unknown>;
    const send = (instead?: string) => (instead ? sendNow(instead) : sendNow(...message));
    return conductor.getStore()?.({ text: message[0].text, server: this.processID, send }) ?? send();
  }
}
