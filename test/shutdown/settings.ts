/** What a request asks for. */
export interface Work {
  /** Names the effect. */
  intent: string;
  /** Milliseconds that the handler takes, at least. */
  pause: number;
  /** Name of a server on which the handler never settles. */
  stuckOn?: string;
}

/** What a server tells those who started it; `closed` when its shutdown has come to the end. */
export type ServerMessage =
  { type: 'listening'; url: string } | { type: 'begun'; intent: string } | { type: 'closed' };

/** What they tell it: to close the app, as a program does that has nothing more to do. */
export interface ServerCommand {
  close: true;
}
