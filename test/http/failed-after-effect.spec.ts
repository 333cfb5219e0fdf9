import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpException, InternalServerErrorException } from '@nestjs/common';
import { nothingDone } from '@exactly-once/nestjs';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp, type Script } from '../support/scripted-app.js';

onEachAdapter((adapter) => {
  describe.each(['transaction', 'lease'] as const)('in %s mode', (mode) => {
    let app: ScriptedApp;

    beforeAll(async () => {
      app = await startScriptedApp({ adapter, handler: { mode } });
    });
    afterAll(() => closeClean(app));
    beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

    /** The first execution ends as `end` says, the others well; each has its effect first. */
    async function postTwice(end: Script) {
      const key = newKey();
      const effect = () => app.dataSource.transaction((manager) => manager.save(Effect, { name: 'charge' }));
      const first = await app.run(
        async (input) => {
          await effect();
          return end(input);
        },
        { key },
      );
      const second = await app.run(effect, { key });
      return { first, second, effects: await app.effects.count(), records: await app.records.count() };
    }

    it('C24: a handler that commits and then throws 500 has its effect once', async () => {
      const { first, second, effects } = await postTwice(() => {
        throw new InternalServerErrorException('after the commit');
      });

      expect(first.status).toBe(500);
      expect(second.status).toBe(mode === 'transaction' ? 201 : 500);
      expect(second.body.equals(first.body)).toBe(mode === 'lease');
      expect(effects).toBe(1);
    });

    it.each([429, 503])('C27: %i thrown after a charge never leads to a second one', async (status) => {
      const { first, second, effects } = await postTwice(() => {
        throw new HttpException('try again later', status);
      });

      expect(first.status).toBe(status);
      expect(second.status).toBe(mode === 'transaction' ? 201 : status);
      expect(second.headers['idempotent-replayed']).toBe(mode === 'transaction' ? undefined : 'true');
      expect(effects).toBe(1);
    });

    const charges = mode === 'transaction' ? 1 : 2;

    it.each([429, 503])(
      'C27: %i is not kept when the handler declares that nothing happened',
      async (status) => {
        const { first, second, effects, records } = await postTwice(() => {
          throw nothingDone(new HttpException('the payment service refused before acting', status));
        });

        expect(first.status).toBe(status);
        expect(first.json()).toMatchObject({ message: 'the payment service refused before acting' });
        expect(second.status).toBe(201);
        expect(second.headers).not.toHaveProperty('idempotent-replayed');
        expect([effects, records]).toEqual([charges, 1]);
      },
    );

    it('a final answer is not kept when the handler declares that nothing happened', async () => {
      const { first, second, effects } = await postTwice(() => {
        throw nothingDone(new HttpException('sold out', 409));
      });

      expect(first.status).toBe(409);
      expect(second.status).toBe(201);
      expect(effects).toBe(charges);
    });

    it('ctx.release() frees the key, also of an answer that would be kept', async () => {
      const { first, second, effects, records } = await postTwice(({ context }) => {
        context.release();
        return { nothing: 'done' };
      });

      expect(first.status).toBe(201);
      expect(first.json()).toEqual({ nothing: 'done' });
      expect(second.status).toBe(201);
      expect(second.headers).not.toHaveProperty('idempotent-replayed');
      expect([effects, records]).toEqual([charges, 1]);
    });

    it('ctx.release() before an error frees the key', async () => {
      const { first, second, effects } = await postTwice(({ context }) => {
        context.release();
        throw new HttpException('sold out', 402);
      });

      expect(first.status).toBe(402);
      expect(second.status).toBe(201);
      expect(effects).toBe(charges);
    });
  });
});
