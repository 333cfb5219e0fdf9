import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Body, Controller, Injectable, Post, type PipeTransform } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import { Gate } from '../support/gate.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';

/** Writes to the database before the handler begins. */
@Injectable()
class VisitorPipe implements PipeTransform {
  constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

  async transform(body: object) {
    await this.effects.save({ name: 'by the pipe' });
    return body;
  }
}

@Controller()
class WorkController {
  static readonly gate = new Gate();

  constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

  @Post('plain')
  plain(@Body() body: { sql?: string; level?: 'SERIALIZABLE' }) {
    return this.work(body);
  }

  @Post('without-key')
  @Idempotent({ required: false })
  withoutKey(@Body() body: { sql?: string; level?: 'SERIALIZABLE' }) {
    return this.work(body);
  }

  @Post('lease')
  @Idempotent({ mode: 'lease' })
  lease(@Body() body: { sql?: string; level?: 'SERIALIZABLE' }) {
    return this.work(body);
  }

  @Post('waiting')
  @Idempotent()
  async waiting() {
    await this.effects.save({ name: 'of the request' });
    await WorkController.gate.pass();
    throw new Error('out of luck');
  }

  @Post('pipe')
  @Idempotent()
  async afterPipe(@Body(VisitorPipe) body: { fails: boolean }) {
    if (body.fails) throw new Error('out of luck');
  }

  /** What a request's own transaction would refuse: control by SQL, a higher isolation, connections of its own. */
  private async work({ sql = 'BEGIN', level = 'SERIALIZABLE' }: { sql?: string; level?: 'SERIALIZABLE' }) {
    const { manager } = this.effects;
    const runner = manager.dataSource.createQueryRunner();
    await runner.query(sql);
    await runner.query(`INSERT INTO effects (name) VALUES ('by SQL')`);
    await runner.query('COMMIT');
    await runner.release();
    await manager.transaction(level, (inner) => inner.save(Effect, { name: 'by transaction()' }));
    await this.effects.save({ name: 'by the repository' });
    throw new Error('after all of that');
  }
}

onEachAdapter((adapter) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [WorkController] });
  });
  afterAll(() => closeClean(app));
  beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

  const names = async () => (await app.effects.find({ order: { id: 'ASC' } })).map(({ name }) => name);

  describe.each([
    ['a handler that is not decorated', '/plain', newKey()],
    ['a request without a key where none is required', '/without-key', null],
    ['lease mode', '/lease', newKey()],
  ])('%s', (_, path, key) => {
    it('leaves the database to the handler: transactions of its own commit, whatever happens later', async () => {
      const answer = await app.post({ path, key });

      expect(answer.status).toBe(500);
      expect(app.log.messages('error').at(-1)).toMatch('after all of that');
      expect(await names()).toEqual(['by SQL', 'by transaction()', 'by the repository']);
    });
  });

  it('work outside of the request takes no part in its transaction, although it is open', async () => {
    WorkController.gate.close();
    const waiting = app.post({ path: '/waiting' });
    await WorkController.gate.arrival();
    await app.effects.save({ name: 'of somebody else' });
    const seen = await names();
    const plain = await app.post({ path: '/plain' });
    WorkController.gate.open();

    expect((await waiting).status).toBe(500);
    expect(plain.status).toBe(500);
    expect(seen).toEqual(['of somebody else']);
    expect(await names()).toEqual(['of somebody else', 'by SQL', 'by transaction()', 'by the repository']);
  });

  it.each([true, false])(
    'what a pipe writes takes part in the transaction (the handler fails: %s)',
    async (fails) => {
      const answer = await app.post({ path: '/pipe', body: { fails } });

      expect(answer.status).toBe(fails ? 500 : 201);
      expect(await names()).toEqual(fails ? [] : ['by the pipe']);
    },
  );
});
