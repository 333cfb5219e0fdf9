import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { blockRecordTable } from '../support/blocked-table.js';
import { startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';

@Controller()
class ShopController {
  @Post('impatient')
  @Idempotent({ mode: 'lease', storeTimeout: '50ms' })
  impatient() {
    return 'impatient';
  }

  @Post('patient')
  @Idempotent({ mode: 'lease', storeTimeout: '20s' })
  patient() {
    return 'patient';
  }
}

onEachAdapter((adapter) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [ShopController] });
  });
  afterAll(() => app.close());

  it('a handler that gives the store little time fails alone, and not those that ask at the same moment', async () => {
    const free = await blockRecordTable(app.database.url);
    const paths = ['/impatient', '/patient', '/patient', '/impatient', '/patient'];
    const answers = Promise.all(paths.map((path) => app.post({ path })));
    await sleep(1_000);
    await free();
    for (const [index, answer] of (await answers).entries()) {
      if (paths[index] === '/patient') {
        expect(answer.status).toBe(201);
      } else {
        expectProblem(answer, 503, 'IDEMPOTENCY_STORE_UNAVAILABLE');
      }
    }
  });
});
