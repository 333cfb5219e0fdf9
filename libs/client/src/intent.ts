import { newKey } from './key.js';
import { sha256 } from './sha-256.js';
import { takeSlot } from './slot.js';

/**
 * Where keys outlive the page: `localStorage`, or anything with these methods, such as React Native's AsyncStorage.
 *
 * @publicApi
 */
export interface IntentStorage {
  getItem(name: string): string | null | undefined | Promise<string | null | undefined>;
  setItem(name: string, value: string): unknown;
  removeItem(name: string): unknown;
}

/** @publicApi */
export interface IntentOptions {
  /** What the user is about to do, such as `checkout`. Each name has one intent at a time in each tab. */
  name: string;
  /** @default `localStorage` */
  storage?: IntentStorage;
}

/**
 * Something that a user wants to happen once.
 *
 * @publicApi
 */
export interface Intent {
  /**
   * The key for all attempts, those after a reload of the page included, until it is settled or the payload changes.
   *
   * @param payload what will be sent, as JSON has it; the order of properties does not matter. A hash of it is stored
   * (on pages that are not secure, itself)
   */
  key(payload?: unknown): Promise<string>;
  /**
   * The intent has its result: the next call of `key()` gives a new one.
   *
   * @param key settles only if it is still the current one, so that a late answer does not settle the next intent
   */
  settle(key?: string): Promise<void>;
}

interface Held {
  readonly key: string;
  readonly payload: string;
}

/** Shared by all intents of one name in this page: two components of it must not take two slots. */
interface Place {
  slot: string | undefined;
  turn: Promise<unknown>;
}

const places = new Map<string, Place>();

/**
 * Keeps the key of one user intent across retries and reloads. Other tabs with the same name have intents of their own.
 *
 * ```ts
 * const intent = createIntent({ name: 'checkout' });
 * const response = await idempotentFetch(
 *   '/orders',
 *   { method: 'POST', body: JSON.stringify(order) },
 *   { key: await intent.key(order) },
 * );
 * await intent.settle(response.key);
 * ```
 *
 * @throws TypeError where there is no storage
 * @publicApi
 */
export function createIntent({ name, storage }: IntentOptions): Intent {
  const store = storage ?? (globalThis as { localStorage?: IntentStorage }).localStorage;
  if (!store) {
    throw new TypeError('createIntent() needs the option `storage` here.');
  }
  const place = places.get(name) ?? { slot: undefined, turn: Promise.resolve() };
  places.set(name, place);

  /** One after the other, or two clicks at the same moment would make two keys. */
  const inTurn = <T>(work: (slot: string) => Promise<T>): Promise<T> => {
    const result = place.turn.then(async () => {
      place.slot ??= await takeSlot(`exactly-once:${name}`);
      return work(place.slot);
    });
    place.turn = result.catch(() => undefined);
    return result;
  };

  return {
    key: async (payload) => {
      // Now, since the caller may change it.
      const text = canonical(payload);
      return inTurn(async (slot) => {
        const digest = (await sha256(text)) ?? text;
        const held = parse(await store.getItem(slot));
        if (held?.payload === digest) {
          return held.key;
        }
        const key = newKey();
        await store.setItem(slot, JSON.stringify({ key, payload: digest } satisfies Held));
        return key;
      });
    },
    settle: (key) =>
      inTurn(async (slot) => {
        if (key === undefined || parse(await store.getItem(slot))?.key === key) {
          await store.removeItem(slot);
        }
      }),
  };
}

/** JSON with the properties of each object in order. */
function canonical(payload: unknown): string {
  const text = JSON.stringify(payload) ?? 'null';
  return JSON.stringify(JSON.parse(text), (_, value: unknown) =>
    Object(value) === value && !Array.isArray(value) ? inOrder(value as object) : value,
  );
}

function inOrder(record: object): object {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** What somebody else has put there is no intent. */
function parse(text: string | null | undefined): Held | undefined {
  try {
    return (JSON.parse(text ?? 'null') as Held | null) ?? undefined;
  } catch {
    return undefined;
  }
}
