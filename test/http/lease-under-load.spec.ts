import { IdempotencyService } from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

/** Milliseconds. */
const DURATION = 4_000;

onEachAdapter((adapter) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({
      adapter,
      handler: { mode: 'lease', ttl: '300ms', lockTtl: '900ms', onAbandoned: 'retry' },
      options: { purge: false },
    });
  });
  afterAll(() => closeClean(app));

  it('claims, renewals, completions, expiry and purging do not deadlock, and never run one key twice at a time', async () => {
    const keys = Array.from({ length: 10 }, newKey);
    const running = new Map<string, number>();
    let overlaps = 0;
    app.handle(async ({ context: { key } }) => {
      running.set(key, (running.get(key) ?? 0) + 1);
      if (running.get(key)! > 1) overlaps += 1;
      await sleep(Math.random() * 700);
      running.set(key, running.get(key)! - 1);
      return 'done';
    });
    const until = Date.now() + DURATION;
    const statuses: number[] = [];
    const client = async (index: number) => {
      while (Date.now() < until) {
        const { status } = await app.post({ key: keys[(index * 7 + statuses.length) % keys.length] });
        statuses.push(status);
      }
    };
    const purging = async () => {
      while (Date.now() < until) {
        await app.app.get(IdempotencyService).purge();
        await sleep(5);
      }
    };
    await Promise.all([...Array.from({ length: 16 }, (_, index) => client(index)), purging(), purging()]);

    expect(overlaps).toBe(0);
    expect(new Set(statuses)).toEqual(new Set([201, 409]));
    expect(app.executions()).toBeGreaterThan(keys.length);
    expect(app.log.lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  });
});
