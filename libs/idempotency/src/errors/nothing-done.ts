const declared = new WeakSet<object>();

/**
 * Declares that an attempt which ends in `error` provably had no effect, so that its key is released
 * and a retry executes, behind the steps that are recorded. For a handler in `lease` mode that knows that the service it called refused
 * before acting.
 *
 * @returns the same error, to be thrown
 * @example
 * if (reply.code === 'rate_limited') throw nothingDone(new ServiceUnavailableException());
 * @publicApi
 */
export function nothingDone<E extends object>(error: E): E {
  declared.add(error);
  return error;
}

/** @internal */
export function declaredNothingDone(error: unknown): boolean {
  return typeof error === 'object' && error !== null && declared.has(error);
}
