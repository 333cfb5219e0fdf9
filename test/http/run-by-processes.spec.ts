import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { MessageQueue } from '../processes/message-queue.js';
import { eventually } from '../support/eventually.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { MODES } from '../support/replay.js';

const CONSUMERS = ['the first', 'the second', 'the third', 'the fourth'];
const DELIVERIES = 100;
/** Milliseconds. */
const PATIENCE = 20_000;
const TEST_TIMEOUT = 90_000;

describe.each(MODES)('run() in %s mode', (mode) => {
  /** Has the database; consumes nothing. */
  let observer: IdempotentApp;
  let queue: MessageQueue;

  beforeAll(async () => {
    observer = await startIdempotentApp({ adapter: 'express' });
  });
  afterAll(() => observer.close());
  beforeEach(async () => {
    await observer.effects.clear();
    queue = new MessageQueue();
    const options = { mode, lockTtl: '2s', onAbandoned: 'retry' } as const;
    const databaseUrl = observer.database.url;
    await Promise.all(CONSUMERS.map((name) => queue.addConsumer({ name, databaseUrl, options })));
  });
  afterEach(() => queue.close());

  const effects = async () => (await observer.effects.find({ order: { id: 'ASC' } })).map(({ name }) => name);

  /** Delivers one message, until one delivery executes and all others have been told so. */
  async function deliver(): Promise<string> {
    queue.deliver(newKey(), DELIVERIES);
    await eventually(() => expect(queue.metInFlight.size).toBe(DELIVERIES - 1), PATIENCE);
    expect(queue.executions).toEqual([{ by: expect.any(String), attempt: 1 }]);
    return queue.executions[0]!.by;
  }

  async function allAreAcknowledged(): Promise<void> {
    await eventually(() => expect(queue.values.size + queue.setAside.length).toBe(DELIVERIES), PATIENCE);
    expect(queue.setAside).toEqual([]);
  }

  const differentValues = () => [
    ...new Set([...queue.values.values()].map((value) => JSON.stringify(value))),
  ];

  it(
    'by four processes that get one message a hundred times at once executes it once, and gives all of them its value',
    async () => {
      const executing = await deliver();
      queue.letGo(executing);
      await allAreAcknowledged();

      const value = { charge: `charge by ${executing}`, order: `order by ${executing}` };
      expect(differentValues()).toEqual([JSON.stringify(value)]);
      expect(queue.executions).toHaveLength(1);
      expect(await effects()).toEqual([value.charge, value.order]);
    },
    TEST_TIMEOUT,
  );

  it(
    'goes on in another process when the one that executes is killed: no recorded step is repeated, and all get one value',
    async () => {
      const killed = await deliver();
      await queue.kill(killed);
      await eventually(() => expect(queue.executions).toHaveLength(2), PATIENCE);
      const { by: executing, attempt } = queue.executions[1]!;
      queue.letGo(executing);
      await allAreAcknowledged();

      // A transaction is rolled back with its steps; under a lease they stay.
      const charged = mode === 'lease' ? killed : executing;
      const value = { charge: `charge by ${charged}`, order: `order by ${executing}` };
      expect(executing).not.toBe(killed);
      expect(attempt).toBe(mode === 'lease' ? 2 : 1);
      expect(differentValues()).toEqual([JSON.stringify(value)]);
      expect(queue.executions).toHaveLength(2);
      expect(await effects()).toEqual([value.charge, value.order]);
    },
    TEST_TIMEOUT,
  );
});
