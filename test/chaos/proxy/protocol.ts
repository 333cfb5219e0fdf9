import type { Commit } from './cut-plan.js';

/** One message of a client's, with all of its bytes. */
export interface ClientMessage {
  bytes: Buffer;
  /** What it makes durable; undefined for most. */
  commit: Commit | undefined;
}

/** What is understood of the bytes that pass through one link. */
export interface Protocol {
  /** Cuts what a client sends into messages. */
  messages(chunk: Buffer): Iterable<ClientMessage>;
  /** Whether these bytes end an answer after which a transaction is open. */
  isInTransaction(chunk: Buffer): boolean;
}
