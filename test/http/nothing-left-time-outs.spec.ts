import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post, UseInterceptors } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { libraryTimers, watchTimers } from '../support/active-handles.js';
import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { QUIET, watchLeftOvers } from '../support/left-overs.js';
import { expectProblem } from '../support/problem.js';
import { onEachAdapterInEachMode } from '../support/replay.js';
import { timeOutAfter } from '../support/time-out.js';

const timeOut = timeOutAfter(1_000);

onEachAdapterInEachMode((adapter, mode) => {
  const gate = new Gate();
  let ended: Promise<unknown>;
  let app: IdempotentApp;
  let nothingIsLeft: () => Promise<void>;

  @Controller()
  class SlowController {
    constructor(@InjectRepository(Effect) private readonly effects: Repository<Effect>) {}

    @Post('outside')
    @Idempotent({ mode })
    @UseInterceptors(timeOut)
    outside() {
      return this.work();
    }

    @Post('inside')
    @UseInterceptors(timeOut)
    @Idempotent({ mode })
    inside() {
      return this.work();
    }

    private work() {
      ended = this.effects
        .save({ name: 'early' })
        .then(() => gate.pass())
        .then(() => this.effects.save({ name: 'late' }));
      return ended;
    }
  }

  beforeAll(async () => {
    watchTimers();
    app = await startIdempotentApp({ ...QUIET, adapter, controllers: [SlowController] });
  });
  afterAll(() => app.close());
  beforeEach(() => {
    nothingIsLeft = watchLeftOvers(app);
  });

  it.each(['/outside', '/inside'])(
    'C28: nothing is left of a handler in whose place a time-out (%s) has answered, once it has ended',
    async (path) => {
      gate.close();
      const key = newKey();
      const answer = await app.post({ key, path });
      if (mode === 'transaction') {
        await nothingIsLeft();
      } else {
        expectProblem(await app.post({ key, path }), 409, 'IDEMPOTENCY_KEY_IN_USE');
        await eventually(() => expect(libraryTimers()).toHaveLength(1));
      }
      gate.open();
      const end = await ended.then(
        () => 'done',
        (error: Error) => error.message,
      );
      await nothingIsLeft();

      expect(answer.status).toBe(408);
      expect(end).toMatch(mode === 'transaction' ? 'rolled back' : 'done');
    },
  );
});
