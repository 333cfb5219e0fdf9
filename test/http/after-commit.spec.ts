import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { closeClean } from '../support/clean-close.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { newKey } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapterInEachMode((adapter, mode) => {
  let app: ScriptedApp;
  let calls: unknown[];

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, handler: { mode } });
  });
  afterAll(() => closeClean(app));
  beforeEach(async () => {
    calls = [];
    app.log.clear();
    await Promise.all([app.effects.clear(), app.records.clear()]);
  });

  const calledTimes = (count: number) => eventually(() => expect(calls).toHaveLength(count));

  it('work after the commit runs once, when the outcome can be seen by all, and not on a replay', async () => {
    const key = newKey();
    const first = await app.run(
      async ({ context }) => {
        context.afterCommit(async () => {
          const { completedAt, status } = await app.records.findOneByOrFail({ key });
          calls.push({ completed: completedAt !== null, status, effects: await app.effects.count() });
        });
        await app.effects.save({ name: 'order' });
        calls.push('handled');
        await sleep(50);
        return 'created';
      },
      { key },
    );
    await calledTimes(2);
    const second = await app.post({ key });
    await sleep(200);

    expect(calls).toEqual(['handled', { completed: true, status: 201, effects: 1 }]);
    expect(first.text).toBe('created');
    expectReplay(second, first);
  });

  it('what it writes to the database commits by itself, and can be a transaction of its own', async () => {
    await app.run(async ({ context }) => {
      await app.effects.save({ name: 'order' });
      context.afterCommit(async () => {
        await app.effects.save({ name: 'mail' });
        const failing = app.dataSource.transaction(async (manager) => {
          await manager.query(`INSERT INTO effects (name) VALUES ('rolled back')`);
          throw new Error('rolled back');
        });
        await failing.catch((error: Error) => calls.push(error.message));
      });
    });
    await calledTimes(1);

    expect(calls).toEqual(['rolled back']);
    expect((await app.effects.find()).map(({ name }) => name)).toEqual(['order', 'mail']);
  });

  it('the response does not wait for it', async () => {
    const gate = new Gate();
    gate.close();
    const answer = await app.run(({ context }) => {
      context.afterCommit(async () => {
        await gate.pass();
        calls.push('done');
      });
      return 'created';
    });
    await gate.arrival();
    const before = [...calls];
    gate.open();
    await calledTimes(1);

    expect(answer.text).toBe('created');
    expect(before).toEqual([]);
  });

  it('several run one after the other, in the order in which they were added', async () => {
    await app.run(({ context }) => {
      context.afterCommit(async () => {
        calls.push('first begins');
        await sleep(50);
        calls.push('first ends');
      });
      context.afterCommit(() => calls.push('second'));
    });
    await calledTimes(3);

    expect(calls).toEqual(['first begins', 'first ends', 'second']);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('the mail server is down'))],
    [
      'throws at once',
      () => {
        throw new Error('the mail server is down');
      },
    ],
  ])('a failure of it (it %s) is logged, and changes nothing', async (_, fail) => {
    const key = newKey();
    const first = await app.run(
      async ({ context }) => {
        context.afterCommit(fail);
        context.afterCommit(() => calls.push('next'));
        return app.effects.save({ name: 'order' });
      },
      { key },
    );
    await calledTimes(1);
    const second = await app.post({ key });

    expect(first.status).toBe(201);
    expectReplay(second, first);
    expect(await app.effects.count()).toBe(1);
    const lines = app.log.lines.filter(({ level }) => level === 'error');
    expect(lines).toHaveLength(1);
    expect(lines[0]!.message).toMatch('What POST / does after its commit has failed; the outcome stands.');
    expect(lines[0]!.rest.join()).toMatch('the mail server is down');
  });

  it('what is added after the outcome is durable, or by other such work, runs too', async () => {
    await app.run(({ context }) => {
      context.afterCommit(() => {
        calls.push('outer');
        context.afterCommit(() => calls.push('inner'));
        setTimeout(() => context.afterCommit(() => calls.push('late')), 100);
      });
    });
    await calledTimes(3);

    expect(calls).toEqual(['outer', 'inner', 'late']);
  });

  it('it knows the key of the intent, and derives others from it', async () => {
    const key = newKey();
    const answer = await app.run(
      ({ context }) => {
        context.afterCommit(() => calls.push([context.key, context.deriveKey('mail')]));
        return context.deriveKey('mail');
      },
      { key },
    );
    await calledTimes(1);

    expect(calls).toEqual([[key, answer.text]]);
  });
});
