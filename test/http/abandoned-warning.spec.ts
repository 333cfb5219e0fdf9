import { IdempotencyAttemptAbandonedError, IdempotencyService } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';

import { abandon } from '../support/abandoned-attempt.js';
import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { errorOf } from '../support/error-of.js';
import { Gate } from '../support/gate.js';
import { newKey } from '../support/idempotent-app.js';
import { lapseLease } from '../support/lapsed-lease.js';
import { expectProblem } from '../support/problem.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapter((adapter) => {
  let app: ScriptedApp;
  let service: IdempotencyService;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, handler: { mode: 'lease', onAbandoned: 'fail' } });
    service = app.app.get(IdempotencyService);
  });
  afterAll(() => closeClean(app));
  beforeEach(async () => {
    await app.records.clear();
    app.log.clear();
  });

  const abandoned = () => abandon(app, (_input, die) => die());
  const warnings = () => app.log.messages('warn').filter((message) => message.includes('abandoned'));
  const refusal = async (key: string, body?: object) =>
    expectProblem(await app.post({ key, ...(body && { body }) }), 409, 'IDEMPOTENCY_OUTCOME_UNKNOWN');

  it('an abandoned record is told of once, however often its request is repeated: which it is, and what to do', async () => {
    const { key, revive } = await abandoned();
    for (let retry = 0; retry < 5; retry += 1) await refusal(key);

    expect(warnings()).toEqual([
      `The attempt of POST /, scope nobody, key ${key}, is abandoned: it may have had its effect, so every retry is refused. ` +
        `When somebody has looked at what it did, IdempotencyService.release() frees the key.`,
    ]);
    await revive();
  });

  it('each abandoned record has a warning of its own', async () => {
    const attempts = [await abandoned(), await abandoned()];
    for (const { key } of attempts) await refusal(key);

    expect(warnings()).toHaveLength(2);
    for (const { key } of attempts) expect(warnings().join()).toContain(`key ${key},`);
    for (const { revive } of attempts) await revive();
  });

  it('an attempt that is abandoned after its key was freed is told of anew', async () => {
    const first = await abandoned();
    await refusal(first.key);
    await service.release({ scope: 'nobody', operation: 'POST /', key: first.key }, 'ann@example.com');
    app.log.clear();
    const second = await abandon(app, (_input, die) => die(), first.key);
    await refusal(first.key);

    expect(warnings()).toHaveLength(1);
    for (const { revive } of [first, second]) await revive();
  });

  it('run() tells of it, too', async () => {
    const request = { scope: 'invoices', operation: 'invoice-paid', key: newKey() };
    const gate = new Gate();
    gate.close();
    const first = service.run(request, () => gate.pass(), { mode: 'lease' });
    await gate.arrival();
    await lapseLease(app, request.key);
    const error = await errorOf(service.run(request, () => 'again', { mode: 'lease' }));

    expect(error).toBeInstanceOf(IdempotencyAttemptAbandonedError);
    expect(warnings().join()).toContain(`invoice-paid, scope invoices, key ${request.key},`);
    gate.open();
    await first;
  });

  it('nobody is told where there is nothing to free: the attempt lives, or the key came with another body', async () => {
    const { key, revive } = await abandoned();
    expectProblem(await app.post({ key, body: { amount: 7 } }), 422, 'IDEMPOTENCY_KEY_REUSED');
    await revive();
    await app.post({ key });

    expect(warnings()).toEqual([]);
  });
});
