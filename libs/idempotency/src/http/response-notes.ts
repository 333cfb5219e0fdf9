import { ServerResponse } from 'node:http';
import type { Disguise, PastDisguise } from './disguise.js';
import type { RequestState } from './request-state.js';

/** What the library keeps with one response as long as there is one. */
export interface ResponseNotes {
  state: RequestState | undefined;
  disguise: Disguise | PastDisguise | undefined;
}

const NOTES = Symbol('exactly-once:response');

/**
 * A property of Node's response, and no WeakMap: what is noted leads back to the response, and V8's quick collections take the
 * values of a WeakMap for alive. Each request would stay until a full collection, and be copied around twice before.
 *
 * @param response Node's own, or a Proxy of it, or an object derived from it
 */
export function notesOf(response: object): ResponseNotes | undefined {
  return (response as { [NOTES]?: ResponseNotes })[NOTES];
}

/** @returns those that are there, or new ones */
export function makeNotes(response: object): ResponseNotes {
  const noted = response as { [NOTES]?: ResponseNotes };
  noted[NOTES] ??= { state: undefined, disguise: undefined };
  return noted[NOTES];
}

/** Node's own response: Express has it itself, and Fastify under `raw`. */
export function rawResponse(response: object): ServerResponse {
  // On Express a look for `raw` costs more: see `keepOneShape()`.
  return response instanceof ServerResponse
    ? response
    : ((response as { raw?: ServerResponse }).raw ?? (response as ServerResponse));
}
