import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';

@Controller()
class IsolationController {
  constructor(@InjectDataSource() readonly dataSource: DataSource) {}

  private async level() {
    const [row] = await this.dataSource.query('SHOW transaction_isolation');
    return row;
  }

  @Post('default')
  @Idempotent()
  byDefault() {
    return this.level();
  }

  @Post('repeatable-read')
  @Idempotent({ isolation: 'REPEATABLE READ' })
  repeatableRead() {
    return this.level();
  }

  @Post('serializable')
  @Idempotent({ isolation: 'SERIALIZABLE' })
  serializable() {
    return this.level();
  }
}

onEachAdapter((adapter) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [IsolationController] });
  });
  afterAll(() => app.close());

  it.each([
    ['/default', 'read committed'],
    ['/repeatable-read', 'repeatable read'],
    ['/serializable', 'serializable'],
  ])('isolation: the handler of %s runs in %s', async (path, level) => {
    const answer = await app.post({ path });

    expect(answer.status).toBe(201);
    expect(answer.json()).toEqual({ transaction_isolation: level });
  });
});
