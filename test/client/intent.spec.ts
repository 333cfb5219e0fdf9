import { createIntent, deriveKey, type IntentStorage } from '@exactly-once/client';
import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';

/** As a browser's, or, if `delay` is set, as one that takes its time. */
class MemoryStorage implements IntentStorage {
  readonly items = new Map<string, string>();

  constructor(private readonly isSlow = false) {}

  getItem(name: string) {
    return this.later(this.items.get(name) ?? null);
  }

  setItem(name: string, value: string) {
    this.items.set(name, value);
    return this.later(undefined);
  }

  removeItem(name: string) {
    this.items.delete(name);
    return this.later(undefined);
  }

  private later<T>(value: T): T | Promise<T> {
    return this.isSlow ? new Promise((resolve) => setImmediate(resolve, value)) : value;
  }
}

const ORDER = { items: [{ sku: 'KIBBLE-2KG', quantity: 1 }], currency: 'EUR' };
const SAME_ORDER = { currency: 'EUR', items: [{ quantity: 1, sku: 'KIBBLE-2KG' }] };

describe.each([
  ['at once', false],
  ['later', true],
])('an intent in a storage that answers %s', (_, isSlow) => {
  const make = (storage = new MemoryStorage(isSlow), name: string = randomUUID()) => ({
    storage,
    name,
    intent: createIntent({ name, storage }),
  });

  it('keeps its key until it is settled', async () => {
    const { intent, storage } = make();
    const key = await intent.key(ORDER);

    expect(await intent.key(ORDER)).toBe(key);
    expect(await intent.key(SAME_ORDER)).toBe(key);
    await intent.settle(key);
    expect(storage.items.size).toBe(0);
    expect(await intent.key(ORDER)).not.toBe(key);
  });

  it('keeps its key across a reload', async () => {
    const { intent, storage, name } = make();
    const key = await intent.key(ORDER);

    expect(await createIntent({ storage, name }).key(SAME_ORDER)).toBe(key);
  });

  it.each([
    ['another quantity', { ...ORDER, items: [{ sku: 'KIBBLE-2KG', quantity: 2 }] }],
    [
      'another order of a list',
      { ...ORDER, items: [...ORDER.items, { sku: 'BOWL', quantity: 1 }].toReversed() },
    ],
    ['no payload', undefined],
  ])('gets a new key for %s', async (_what, payload) => {
    const { intent } = make();
    const key = await intent.key(ORDER);
    const other = await intent.key(payload);

    expect(other).not.toBe(key);
    expect(await intent.key(payload)).toBe(other);
  });

  it('counts the payload as JSON has it, at the call', async () => {
    const { intent } = make();
    const order = { at: new Date(0), quantity: 1, note: undefined };
    const asking = intent.key(order);
    order.quantity = 2;
    const key = await asking;

    expect(await intent.key({ quantity: 1, at: '1970-01-01T00:00:00.000Z' })).toBe(key);
    const boxed = await intent.key({ quantity: new Number(5) });
    expect(await intent.key({ quantity: new Number(6) })).not.toBe(boxed);
  });

  it('gives two clicks at the same moment one key', async () => {
    const { intent } = make();
    const [first, second] = await Promise.all([intent.key(ORDER), intent.key(ORDER)]);

    expect(second).toBe(first);
  });

  it('is not settled by the answer to the one before', async () => {
    const { intent } = make();
    const before = await intent.key(ORDER);
    await intent.settle(before);
    const now = await intent.key(ORDER);
    await intent.settle(before);

    expect(await intent.key(ORDER)).toBe(now);
  });

  it('has nothing to do with one of another name', async () => {
    const { intent, storage } = make();
    const other = make(storage).intent;
    const key = await intent.key(ORDER);

    expect(await other.key(ORDER)).not.toBe(key);
    await other.settle();
    expect(await intent.key(ORDER)).toBe(key);
  });

  it('stores a hash of the payload, and takes what somebody else has put there for none', async () => {
    const { intent, storage } = make();
    await intent.key(ORDER);
    const [[slot, value]] = [...storage.items] as [[string, string]];

    expect(value).not.toContain('KIBBLE');
    storage.items.set(slot, 'not JSON');
    expect(await intent.key(ORDER)).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('an intent', () => {
  it('tells what is wrong where there is no storage', () => {
    expect(() => createIntent({ name: 'checkout' })).toThrow(/needs the option `storage`/);
  });

  it('passes the failure of its storage on, and works again after it', async () => {
    const storage = new MemoryStorage();
    const intent = createIntent({ name: randomUUID(), storage });
    const { setItem } = storage;
    storage.setItem = () => {
      throw new Error('The quota is exceeded.');
    };
    await expect(intent.key(ORDER)).rejects.toThrow('The quota is exceeded.');
    storage.setItem = setItem;

    expect(await intent.key(ORDER)).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('a derived key', () => {
  it('is the same for the same parts, and another one for others', async () => {
    const key = await deriveKey('customer-create', 42);

    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(await deriveKey('customer-create', '42')).toBe(key);
    expect(await deriveKey('customer-create', 42n)).toBe(key);
    const others = await Promise.all([
      deriveKey('customer-create42'),
      deriveKey('customer-create,42'),
      deriveKey('customer-create', 4, 2),
      deriveKey('customer-create', 42, ''),
      deriveKey('42', 'customer-create'),
    ]);
    expect(new Set([key, ...others]).size).toBe(6);
  });

  it.each([[[]], [[undefined]], [['a', null]], [[Number.NaN]], [[{}]]])(
    'is not made of %j',
    async (parts) => {
      await expect(deriveKey(...(parts as never[]))).rejects.toThrow('must be a text or a number');
    },
  );
});
