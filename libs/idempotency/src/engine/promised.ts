/** What `work` gives, as a promise in any case: a store of somebody else's may throw, or answer at once. */
export function promised<T>(work: () => T | PromiseLike<T>): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}
