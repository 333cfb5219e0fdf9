import { isAscii } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { descriptorsOf, Shadow } from './shadow.js';

/** Copying more costs more than it saves. */
const MOST_BYTES_AS_TEXT = 16 * 1024;

/**
 * Node sends a text together with the head, and bytes after it, for which the system is called twice. ASCII is the same
 * bytes in every encoding, so it does not matter which one the head gets, or an `end()` of some middleware passes on.
 */
export function endResponse(response: ServerResponse, body: Buffer): void {
  if (body.byteLength <= MOST_BYTES_AS_TEXT && isAscii(body)) {
    response.end(body.toString('latin1'), 'latin1');
  } else {
    response.end(body);
  }
}

/** RFC 9110, section 8.6. */
export function mayHaveBody(status: number): boolean {
  return status >= 200 && status !== 204 && status !== 304;
}

const NOTHING = descriptorsOf({
  writeHead(this: ServerResponse) {
    return this;
  },
  flushHeaders() {},
  end(this: ServerResponse) {
    return this;
  },
  write() {
    return true;
  },
});

/** Drops what is still sent to a response that was answered: Node would end the process with "write after end". */
export function mute(response: ServerResponse): void {
  new Shadow(response).lay(NOTHING);
}

const ENDED = descriptorsOf({
  get writableEnded() {
    return true;
  },
});

/**
 * For a response whose `end()` somebody has replaced by one that waits, as for a session to be saved: Fastify ends a response
 * that does not look ended once its handler has returned, with nothing.
 */
export function showEnded(response: ServerResponse): void {
  new Shadow(response).lay(ENDED);
}
