import type { IdempotentContext } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpException, RequestTimeoutException, type NestInterceptor } from '@nestjs/common';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { catchError, throwError, timeout } from 'rxjs';

import { abandon } from '../support/abandoned-attempt.js';
import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { withClient } from '../support/database-client.js';
import { eventually } from '../support/eventually.js';
import { lapseLease } from '../support/lapsed-lease.js';
import { onEachAdapterInEachMode } from '../support/replay.js';
import {
  startScriptedApp,
  type Script,
  type ScriptedApp,
  type ScriptInput,
} from '../support/scripted-app.js';

/** Answers in the handler's place when the body asks for it. */
const impatient: NestInterceptor = {
  intercept: (context, next) =>
    next.handle().pipe(
      timeout(context.switchToHttp().getRequest().body.patience ?? 60_000),
      catchError((error: Error) =>
        throwError(() => (error.name === 'TimeoutError' ? new RequestTimeoutException() : error)),
      ),
    ),
};

/** Resolves with what the handler sees once the signal is aborted; the test's time limit says when it never is. */
const untilAborted = async ({ context: { signal } }: ScriptInput): Promise<string> => {
  if (!signal.aborted) await once(signal, 'abort');
  return `aborted: ${signal.reason.name}`;
};

onEachAdapter((adapter) => {
  describe('the signal of an attempt in lease mode', () => {
    let app: ScriptedApp;

    beforeAll(async () => {
      app = await startScriptedApp({
        adapter,
        handler: { mode: 'lease', onAbandoned: 'retry', lockTtl: '600ms' },
      });
    });
    afterAll(() => closeClean(app));

    /** A renewal of the abandoned attempt may be faster than the one who takes over. */
    const takeOver = (key: string, script: Script) => {
      app.handle(script);
      return eventually(async () => {
        await lapseLease(app, key);
        const answer = await app.post({ key });
        expect(answer.status).toBe(201);
        return answer;
      });
    };

    it('is aborted when a renewal finds that another attempt has taken the key over', async () => {
      let seen: Promise<string> | undefined;
      const { key, revive } = await abandon(app, (input, die) => {
        seen = untilAborted(input);
        return die();
      });
      const resumed = await takeOver(key, ({ context }) => context.signal.aborted);

      expect(await seen).toBe('aborted: AbortError');
      expect(resumed.text).toBe('false');
      expect((await revive()).body.equals(resumed.body)).toBe(true);
    });

    it('is aborted when a step cannot be recorded, for the same reason', async () => {
      let signal: AbortSignal | undefined;
      const { key, revive } = await abandon(app, async ({ context }, die) => {
        ({ signal } = context);
        await die();
        await context.step('charge', () => 'charged');
      });
      await takeOver(key, () => 'resumed');
      await revive();

      expect(signal!.aborted).toBe(true);
    });

    it('is not aborted while the lease is renewed, also when it had lapsed and nobody took it over', async () => {
      let signal: AbortSignal | undefined;
      const running = app.run(async ({ context }) => {
        ({ signal } = context);
        await sleep(200);
        await lapseLease(app, context.key);
        await sleep(1_000);
        return signal.aborted;
      });

      expect((await running).text).toBe('false');
      await sleep(500);
      expect(signal!.aborted).toBe(false);
    });
  });

  describe('the signal of an attempt in transaction mode', () => {
    let app: ScriptedApp;

    beforeAll(async () => {
      app = await startScriptedApp({ adapter, handler: { transactionTimeout: '700ms', storeTimeout: '2s' } });
    });
    afterAll(() => closeClean(app));

    it('is aborted when its transaction was open for longer than transactionTimeout', async () => {
      let seen: Promise<string> | undefined;
      const answer = await app.run((input) => (seen = untilAborted(input)));

      expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED' });
      expect(await seen).toBe('aborted: AbortError');
    });

    it('is aborted when the connection of its transaction is lost', async () => {
      let seen: Promise<string> | undefined;
      const answer = await app.run(async (input) => {
        const [{ pid }] = await app.dataSource.query('SELECT pg_backend_pid() AS pid');
        await withClient(app.database.url, (client) =>
          client.query('SELECT pg_terminate_backend($1)', [pid]),
        );
        seen = untilAborted(input);
        return seen;
      });

      expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED' });
      expect(await seen).toBe('aborted: AbortError');
    });
  });
});

onEachAdapterInEachMode((adapter, mode) => {
  let app: ScriptedApp;
  let signal: AbortSignal | undefined;
  const keep = ({ context }: { context: IdempotentContext }) => {
    ({ signal } = context);
  };

  beforeAll(async () => {
    app = await startScriptedApp({
      adapter,
      handler: { mode },
      configure: (nest) => void nest.useGlobalInterceptors(impatient),
    });
  });
  afterAll(() => closeClean(app));
  beforeEach(() => {
    signal = undefined;
  });
  afterEach(() => expect(signal).toBeInstanceOf(AbortSignal));

  it.each([
    ['has succeeded', 201, () => 'created'],
    ['has thrown an error', 500, () => Promise.reject(new Error('out of luck'))],
    ['has refused', 402, () => Promise.reject(new HttpException('no', 402))],
  ])('the signal is not aborted when the handler %s', async (_, status, end) => {
    const answer = await app.run((input) => {
      keep(input);
      return end();
    });
    await sleep(100);

    expect(answer.status).toBe(status);
    expect(signal!.aborted).toBe(false);
  });

  it('the signal is the same object at each look', async () => {
    const answer = await app.run((input) => {
      keep(input);
      return input.context.signal === signal;
    });

    expect(answer.text).toBe('true');
  });

  it('the signal is not aborted when the client goes away, since the attempt goes on', async () => {
    let finished = false;
    app.handle(async (input) => {
      keep(input);
      await sleep(400);
      finished = true;
    });
    await expect(app.post({ signal: AbortSignal.timeout(150) })).rejects.toThrow();
    await eventually(() => expect(finished).toBe(true));

    expect(signal!.aborted).toBe(false);
  });

  it(`a time-out that answers in the handler's place ${mode === 'lease' ? 'leaves the signal alone: the lease is kept' : 'aborts the signal: the transaction is over'}`, async () => {
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const answer = await app.run(
      async (input) => {
        keep(input);
        await ended;
      },
      { body: { patience: 200 } },
    );
    await sleep(100);
    const { aborted } = signal!;
    end();

    expect(answer.status).toBe(408);
    expect(aborted).toBe(mode === 'transaction');
  });
});
