import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Body, Controller, Post, type PipeTransform } from '@nestjs/common';
import type { Pool } from 'pg';

import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { onEachAdapterInEachMode } from '../support/replay.js';

/** What a request has set in motion. */
class Trace {
  readonly steps: string[] = [];

  step<T>(name: string, value: T): T {
    this.steps.push(name);
    return value;
  }
}

function controllerFor(mode: IdempotencyMode, trace: Trace) {
  class TracedPipe implements PipeTransform {
    transform = (value: unknown) => trace.step('pipe', value);
  }

  @Controller()
  class OrdersController {
    @Post()
    @Idempotent({ mode, scope: () => trace.step('scope', 'somebody') })
    create(@Body(TracedPipe) body: object) {
      return trace.step('handler', body);
    }

    @Post('optional')
    @Idempotent({ mode, required: false, scope: () => trace.step('scope', 'somebody') })
    optional(@Body(TracedPipe) body: object) {
      return trace.step('handler', body);
    }

    @Post('structured')
    @Idempotent({ mode, keyFormat: 'structured', scope: () => trace.step('scope', 'somebody') })
    structured(@Body(TracedPipe) body: object) {
      return trace.step('handler', body);
    }
  }
  return OrdersController;
}

onEachAdapterInEachMode((adapter, mode) => {
  let trace: Trace;
  let app: IdempotentApp;

  beforeAll(async () => {
    trace = new Trace();
    app = await startIdempotentApp({
      adapter,
      controllers: [controllerFor(mode, trace)],
      options: { purge: false },
    });
    const pool = (app.dataSource.driver as unknown as { master: Pool }).master;
    pool.on('acquire', () => trace.step('database', undefined));
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.records.clear();
    trace.steps.splice(0);
  });

  it('B8: a key that is well-formed is looked up for its owner before pipes and handler run', async () => {
    const answer = await app.post({ key: newKey() });

    expect(answer.status).toBe(201);
    expect(trace.steps.slice(0, 2)).toEqual(['scope', 'database']);
    expect(trace.steps.filter((step) => step !== 'database')).toEqual(['scope', 'pipe', 'handler']);
  });

  it.each([
    ['no key', '/', null, 'IDEMPOTENCY_KEY_REQUIRED'],
    ['an empty key', '/', '', 'IDEMPOTENCY_KEY_INVALID'],
    ['an unbalanced quote', '/', '"abc', 'IDEMPOTENCY_KEY_INVALID'],
    ['a key that is too long', '/', 'k'.repeat(256), 'IDEMPOTENCY_KEY_INVALID'],
    ['an unbalanced quote where the key is optional', '/optional', '"abc', 'IDEMPOTENCY_KEY_INVALID'],
    ['a bare key where a quoted one is asked for', '/structured', 'abc', 'IDEMPOTENCY_KEY_INVALID'],
  ])('B8: %s is refused before anything is asked, stored or run', async (_, path, key, code) => {
    const answer = await app.post({ path, key });

    expectProblem(answer, 400, code);
    expect(trace.steps).toEqual([]);
    expect(await app.records.count()).toBe(0);
  });
});
