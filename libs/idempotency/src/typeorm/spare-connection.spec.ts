import { expect, it } from '@jest/globals';
import { Deadline } from '../engine/time-limit.js';
import { SpareConnection } from './spare-connection.js';

it('is closed when its last user has gone, also where that one used another that has failed since', async () => {
  const open = new Set<number>();
  let made = 0;
  const spare = new SpareConnection(
    async () => {
      made += 1;
      open.add(made);
      return made;
    },
    (connection) => void open.delete(connection),
  );
  const use = <T>(work: (connection: number) => Promise<T>) => spare.use(new Deadline(5_000), work);
  let end!: () => void;
  const lasting = use(() => new Promise<void>((resolve) => (end = resolve)));
  await expect(use(() => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
  expect(await use(async (connection) => connection)).toBe(2);
  end();
  await lasting;
  await new Promise(setImmediate);

  expect([...open]).toEqual([]);
});
