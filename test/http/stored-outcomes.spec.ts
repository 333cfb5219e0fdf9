import type { IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpException, StreamableFile } from '@nestjs/common';
import { Readable } from 'node:stream';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp, type ScriptInput } from '../support/scripted-app.js';

/** What is there after a handler that had its effect and then ended as the row says. */
interface Expected {
  status: number;
  key: 'stored' | 'released';
  effects: 0 | 1;
}

interface Row {
  name: string;
  /** Runs after the effect. */
  end: (input: ScriptInput) => unknown;
  transaction: Expected;
  lease: Expected;
}

const throwing = (error: unknown) => () => {
  throw error;
};

const FINAL = [400, 402, 404, 409, 410, 412, 422, 451];
const NOT_FINAL = [401, 403, 408, 425, 429];
const SERVER_ERRORS = [500, 501, 502, 503, 504];

const ROWS: Row[] = [
  {
    name: 'returned',
    end: () => ({ id: 1 }),
    transaction: { status: 201, key: 'stored', effects: 1 },
    lease: { status: 201, key: 'stored', effects: 1 },
  },
  {
    name: 'returned, and set a status of 409 itself',
    end: ({ response }) => {
      response.status(409);
      return { sorry: true };
    },
    transaction: { status: 409, key: 'stored', effects: 1 },
    lease: { status: 409, key: 'stored', effects: 1 },
  },
  {
    name: 'returned, and set a status of 503 itself',
    end: ({ response }) => {
      response.status(503);
      return { sorry: true };
    },
    transaction: { status: 503, key: 'released', effects: 0 },
    lease: { status: 503, key: 'stored', effects: 1 },
  },
  {
    name: 'returned what cannot be rendered',
    end: () => ({ amount: 1n }),
    transaction: { status: 500, key: 'released', effects: 0 },
    lease: { status: 500, key: 'stored', effects: 1 },
  },
  ...FINAL.map((status): Row => ({
    name: `threw ${status}, a final answer`,
    end: throwing(new HttpException('final', status)),
    transaction: { status, key: 'stored', effects: 0 },
    lease: { status, key: 'stored', effects: 1 },
  })),
  ...NOT_FINAL.map((status): Row => ({
    name: `threw ${status}, an answer about the caller or the moment`,
    end: throwing(new HttpException('not final', status)),
    transaction: { status, key: 'released', effects: 0 },
    lease: { status, key: 'stored', effects: 1 },
  })),
  ...SERVER_ERRORS.map((status): Row => ({
    name: `threw ${status}`,
    end: throwing(new HttpException('broken', status)),
    transaction: { status, key: 'released', effects: 0 },
    lease: { status, key: 'stored', effects: 1 },
  })),
  ...[new Error('unknown'), 'a text', undefined].map((error): Row => ({
    name: `threw ${String(error)}`,
    end: throwing(error),
    transaction: { status: 500, key: 'released', effects: 0 },
    lease: { status: 500, key: 'stored', effects: 1 },
  })),
];

const breaking = () =>
  new StreamableFile(
    Readable.from(
      (async function* () {
        yield 'begun';
        throw new Error('the disk is gone');
      })(),
    ),
  );

onEachAdapter((adapter) => {
  describe.each(['transaction', 'lease'] satisfies IdempotencyMode[])('in %s mode', (mode) => {
    let app: ScriptedApp;

    beforeAll(async () => {
      app = await startScriptedApp({ adapter, handler: { mode } });
    });
    afterAll(() => closeClean(app));
    beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

    const withEffect = (end: Row['end']) => async (input: ScriptInput) => {
      await app.effects.save({ name: 'effect' });
      return end(input);
    };

    it.each(ROWS)('a handler that $name', async ({ end, [mode]: expected }) => {
      const key = newKey();
      const first = await app.run(withEffect(end), { key });
      const effects = await app.effects.count();
      const second = await app.run(() => 'executed again', { key });

      expect(first.status).toBe(expected.status);
      expect(effects).toBe(expected.effects);
      if (expected.key === 'stored') {
        expect(second.status).toBe(first.status);
        expect(second.body.equals(first.body)).toBe(true);
        expect(second.headers['content-type']).toBe(first.headers['content-type']);
        expect(second.headers['idempotent-replayed']).toBe('true');
      } else {
        expect(second.status).toBe(201);
        expect(second.text).toBe('executed again');
      }
    });

    it('a handler that returned, and whose response was broken off', async () => {
      const key = newKey();
      await expect(app.run(withEffect(breaking), { key })).rejects.toThrow();
      const effects = await app.effects.count();
      const second = await app.run(() => 'executed again', { key });

      if (mode === 'transaction') {
        expect(effects).toBe(0);
        expect(second.text).toBe('executed again');
      } else {
        expect(effects).toBe(1);
        expect(second.status).toBe(409);
        expect(second.json()).toMatchObject({ code: 'IDEMPOTENCY_RESPONSE_UNAVAILABLE' });
      }
    });
  });
});
