import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DataSource, Repository } from 'typeorm';

import { abandon } from '../support/abandoned-attempt.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import { newKey } from '../support/idempotent-app.js';
import { recordedSteps } from '../support/lapsed-lease.js';
import { onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

/** As an application has it: it knows nothing of steps. */
@Injectable()
class Reservations {
  constructor(
    @InjectRepository(Effect) private readonly effects: Repository<Effect>,
    private readonly dataSource: DataSource,
  ) {}

  async reserve(name: string): Promise<string> {
    await this.effects.save({ name });
    await this.effects
      .createQueryBuilder()
      .insert()
      .values({ name: `${name} by builder` })
      .execute();
    await this.dataSource.query('INSERT INTO effects (name) VALUES ($1)', [`${name} by SQL`]);
    await this.dataSource.transaction((manager) =>
      manager.save(Effect, { name: `${name} in a transaction` }),
    );
    return name;
  }
}

/** What `reserve()` leaves in the table. */
const namesOf = (name: string) => [name, `${name} by builder`, `${name} by SQL`, `${name} in a transaction`];

onEachAdapterInEachMode((adapter, mode) => {
  let app: ScriptedApp;
  let reservations: Reservations;

  beforeAll(async () => {
    const handler = { mode, onAbandoned: 'retry' } as const;
    app = await startScriptedApp({ adapter, providers: [Reservations], handler });
    reservations = app.app.get(Reservations);
  });
  afterAll(() => closeClean(app));
  beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

  const names = async () => (await app.effects.find({ order: { id: 'ASC' } })).map(({ name }) => name);

  it('all that a transactionalStep() does through the DataSource takes effect', async () => {
    const answer = await app.run(({ context }) =>
      context.transactionalStep('reserve', () => reservations.reserve('seat')),
    );

    expect(answer.text).toBe('seat');
    expect(await names()).toEqual(namesOf('seat'));
  });

  it('a transactionalStep() that fails leaves no row, and the handler can go on', async () => {
    const key = newKey();
    const answer = await app.run(
      async ({ context }) => {
        await app.effects.save({ name: 'before' });
        const failing = context.transactionalStep('reserve', async () => {
          await reservations.reserve('seat');
          throw new Error('no more seats');
        });
        const message = await failing.catch((error: Error) => error.message);
        await app.effects.save({ name: 'after' });
        return message;
      },
      { key },
    );

    expect(answer.status).toBe(201);
    expect(answer.text).toBe('no more seats');
    expect(await names()).toEqual(['before', 'after']);
  });

  it('a statement that fails and is swallowed inside takes the whole transactionalStep() with it', async () => {
    let error: unknown;
    const answer = await app.run(async ({ context }) => {
      const failing = context.transactionalStep('reserve', async () => {
        await app.effects.save({ name: 'seat' });
        await app.dataSource.query('SELECT 1 / 0').catch(() => undefined);
        return 'reserved';
      });
      await failing.catch((cause: unknown) => (error = cause));
      await app.effects.save({ name: 'after' });
    });

    expect(error).toBeInstanceOf(Error);
    expect(answer.status).toBe(201);
    expect(await names()).toEqual(['after']);
  });

  it('a transaction that is begun inside and not ended takes the transactionalStep() with it', async () => {
    let error: unknown;
    await app.run(async ({ context }) => {
      const failing = context.transactionalStep('reserve', async () => {
        const runner = app.dataSource.createQueryRunner();
        await runner.startTransaction();
        await runner.manager.save(Effect, { name: 'seat' });
      });
      await failing.catch((cause: unknown) => (error = cause));
    });

    expect(String(error)).toMatch(/neither committed nor rolled/);
    expect(await names()).toEqual([]);
  });

  it('work that a transactionalStep() does not wait for is part of it, or refused, and never commits alone', async () => {
    let late: Promise<unknown> | undefined;
    await app.run(async ({ context }) => {
      const failing = context.transactionalStep('reserve', async () => {
        late = Promise.resolve().then(async () => {
          await app.effects.save({ name: 'first' });
          await app.effects.save({ name: 'second' });
        });
        late.catch(() => undefined);
        throw new Error('failed at once');
      });
      await failing.catch(() => undefined);
    });
    await late?.catch(() => undefined);

    expect(await names()).toEqual([]);
  });

  it('SQL that would end the transaction of a transactionalStep() is refused', async () => {
    let error: unknown;
    await app.run(async ({ context }) => {
      const failing = context.transactionalStep('reserve', async () => {
        await app.effects.save({ name: 'seat' });
        await app.dataSource.query('COMMIT');
      });
      await failing.catch((cause: unknown) => (error = cause));
    });

    expect(error).toBeInstanceOf(Error);
    expect(await names()).toEqual([]);
  });

  if (mode === 'lease') {
    describe('that outlives its process', () => {
      it('the rows and the note that the step is done commit together, before the handler goes on', async () => {
        let seen: unknown;
        const { key, revive } = await abandon(app, async ({ context }, die) => {
          await context.transactionalStep('reserve', () => reservations.reserve('seat'));
          seen = [await names(), await recordedSteps(app, context.key)];
          await die();
        });
        const resumed = await app.run(
          ({ context }) => context.transactionalStep('reserve', () => reservations.reserve('other seat')),
          { key },
        );
        await revive();

        expect(seen).toEqual([namesOf('seat'), { reserve: { result: 'seat' } }]);
        expect(resumed.text).toBe('seat');
        expect(await names()).toEqual(namesOf('seat'));
      });

      it('a step that failed is not noted, and an attempt that resumes runs it', async () => {
        const { key, revive } = await abandon(app, async ({ context }, die) => {
          const failing = context.transactionalStep('reserve', async () => {
            await reservations.reserve('seat');
            throw new Error('no more seats');
          });
          await failing.catch(() => undefined);
          await die();
        });
        const before = await recordedSteps(app, key);
        const resumed = await app.run(
          ({ context }) => context.transactionalStep('reserve', () => reservations.reserve('other seat')),
          { key },
        );
        await revive();

        expect(before).toBeNull();
        expect(resumed.text).toBe('other seat');
        expect(await names()).toEqual(namesOf('other seat'));
      });

      it('what the handler does beside it is not part of it', async () => {
        const answer = await app.run(async ({ context }) => {
          const beside = app.effects.save({ name: 'beside' });
          const failing = context.transactionalStep('reserve', async () => {
            await app.effects.save({ name: 'inside' });
            await beside;
            throw new Error('failed');
          });
          await failing.catch(() => undefined);
        });

        expect(answer.status).toBe(201);
        expect(await names()).toEqual(['beside']);
      });
    });
  }
});
