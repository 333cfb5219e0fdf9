const KEY = Symbol('idempotency key');

/** A property, since a WeakMap with an entry for each request costs the garbage collector more. */
interface Keyed {
  [KEY]?: string;
}

/** Hands the key of a request from the guard to the interceptor. */
export function setKey(request: object, key: string): void {
  (request as Keyed)[KEY] = key;
}

export function keyOf(request: object): string | undefined {
  return (request as Keyed)[KEY];
}
