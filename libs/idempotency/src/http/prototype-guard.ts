import { ServerResponse } from 'node:http';

/** Through which every byte of a response passes. */
const SENDING = ['writeHead', 'flushHeaders', 'write', 'end', 'destroy'] as const;

type Name = (typeof SENDING)[number];

let isSet = false;

/**
 * A mask that lies between a response and its prototype is lost when somebody changes the prototype, as each Express app does
 * with the responses that it is given: a handler that calls one would send its answer before it is recorded. So the methods
 * of Node itself ask once more.
 *
 * @param heldMethod what to call in the place of a method, for a response that is held
 */
export function guardPrototype(
  heldMethod: (response: ServerResponse, name: Name) => ((...args: any[]) => unknown) | undefined,
): void {
  if (isSet) {
    return;
  }
  isSet = true;
  for (const name of SENDING) {
    const original = ServerResponse.prototype[name] as (...args: unknown[]) => unknown;
    const guarded = function (this: ServerResponse, ...args: unknown[]): unknown {
      return Reflect.apply(heldMethod(this, name) ?? original, this, args);
    };
    Object.defineProperty(ServerResponse.prototype, name, {
      value: guarded,
      writable: true,
      configurable: true,
      enumerable: true,
    });
  }
}
