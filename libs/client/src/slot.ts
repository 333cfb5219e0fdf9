import { newKey } from './key.js';

/** What browsers have on secure pages: a lock is given back when its page goes, however it goes. */
interface Locks {
  request(
    name: string,
    options: { ifAvailable?: boolean; signal?: AbortSignal },
    callback: (lock: object | null) => unknown,
  ): Promise<unknown>;
}

interface Surroundings {
  navigator?: { locks?: Locks };
  sessionStorage?: { getItem(name: string): string | null; setItem(name: string, value: string): void };
}

/** Milliseconds that a reloaded page waits for the lock of the page before it. */
const PATIENCE = 1_000;

/**
 * The name of a place in the storage that no other tab has, and that a reload keeps.
 *
 * @param name what the places are named after; outside of a browser there are no tabs, and it is the only one
 */
export async function takeSlot(name: string): Promise<string> {
  const { navigator, sessionStorage } = globalThis as Surroundings;
  if (!sessionStorage) {
    return name;
  }
  const own = sessionStorage.getItem(name);
  const slot = navigator?.locks ? await lockSlot(navigator.locks, name, own) : (own ?? `${name}:${newKey()}`);
  sessionStorage.setItem(name, slot);
  return slot;
}

/** The first free one, since a page that was closed leaves its place, and its intent, to the next. */
async function lockSlot(locks: Locks, name: string, own: string | null): Promise<string> {
  if (own && (await hold(locks, own, { signal: AbortSignal.timeout(PATIENCE) }))) {
    return own;
  }
  for (let number = 0; ; number += 1) {
    const slot = `${name}:${number}`;
    if (await hold(locks, slot, { ifAvailable: true })) {
      return slot;
    }
  }
}

/** For as long as the page lives. @returns whether it was free in time */
function hold(
  locks: Locks,
  slot: string,
  options: { ifAvailable?: boolean; signal?: AbortSignal },
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const held = locks.request(slot, options, (lock) => {
      resolve(lock !== null);
      return lock && new Promise(() => undefined);
    });
    held.catch((error: unknown) => (options.signal?.aborted ? resolve(false) : reject(error)));
  });
}
