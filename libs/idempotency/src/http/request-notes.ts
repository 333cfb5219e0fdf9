import type { Disguise } from './disguise.js';
import type { RequestState } from './request-state.js';

/** What the library keeps with one request as long as there is one. */
export interface RequestNotes {
  state: RequestState | undefined;
  disguise: Disguise | undefined;
}

const NOTES = Symbol('exactly-once:request');

/**
 * A property of Node's request, and no WeakMap: what is noted leads back to the request, and V8's quick collections take the
 * values of a WeakMap for alive. Each request would stay until a full collection, and be copied around twice before.
 *
 * @param request Node's own, or what stands in its place
 */
export function notesOf(request: object): RequestNotes | undefined {
  return (request as { [NOTES]?: RequestNotes })[NOTES];
}

/** @returns those that are there, or new ones */
export function makeNotes(request: object): RequestNotes {
  const noted = request as { [NOTES]?: RequestNotes };
  noted[NOTES] ??= { state: undefined, disguise: undefined };
  return noted[NOTES];
}
