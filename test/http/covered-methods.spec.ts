import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { All, Controller, Delete, Get, Head, Options, Patch, Post, Put } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

function controllersFor(mode: IdempotencyMode) {
  class Effects {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    act() {
      return this.effects.save({ name: 'effect' });
    }
  }

  @Controller('class')
  @Idempotent({ mode })
  class DecoratedController extends Effects {
    @Post()
    post() {
      return this.act();
    }

    @Patch()
    patch() {
      return this.act();
    }

    @Put()
    put() {
      return this.act();
    }

    @Delete()
    delete() {
      return this.act();
    }

    @Get()
    get() {
      return this.act();
    }

    @Put('decorated')
    @Idempotent()
    decoratedPut() {
      return this.act();
    }
  }

  @Controller('method')
  class DecoratedMethodsController extends Effects {
    @Put()
    @Idempotent({ mode })
    put() {
      return this.act();
    }

    @Delete()
    @Idempotent({ mode })
    delete() {
      return this.act();
    }

    @Head()
    @Idempotent({ mode })
    head() {
      return this.act();
    }

    @Get()
    @Idempotent({ mode })
    get() {
      return this.act();
    }

    @Options()
    @Idempotent({ mode })
    options() {
      return this.act();
    }

    @All('all')
    @Idempotent({ mode })
    all() {
      return this.act();
    }

    @Post('bare')
    bare() {
      return this.act();
    }

    @Post('twice')
    @Idempotent()
    @Idempotent({ mode })
    twice() {
      return this.act();
    }
  }

  class Base extends Effects {
    @Post()
    @Idempotent({ mode })
    post() {
      return this.act();
    }
  }

  @Controller('inherited')
  class InheritingController extends Base {}

  class UndecoratedBase extends Effects {
    @Post()
    post() {
      return this.act();
    }
  }

  @Controller('inherited-route')
  @Idempotent({ mode })
  class InheritingRouteController extends UndecoratedBase {}

  @Controller('undecorated')
  class UndecoratedController extends UndecoratedBase {}

  return [
    DecoratedController,
    DecoratedMethodsController,
    InheritingController,
    InheritingRouteController,
    UndecoratedController,
  ];
}

const withoutBody = (method: string) =>
  ['GET', 'HEAD', 'OPTIONS', 'DELETE'].includes(method) ? { body: '' } : {};

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: controllersFor(mode) });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
  });

  it.each([
    ['POST', '/class'],
    ['PATCH', '/class'],
    ['PUT', '/class/decorated'],
    ['PUT', '/method'],
    ['DELETE', '/method'],
    ['POST', '/method/all'],
    ['PUT', '/method/all'],
    ['POST', '/method/twice'],
    ['POST', '/inherited'],
    ['POST', '/inherited-route'],
  ])('protects %s %s', async (method, path) => {
    const key = newKey();
    const request = { method, path, ...withoutBody(method) };
    const first = await app.post({ key, ...request });
    const second = await app.post({ key, ...request });
    const without = await app.post({ key: null, ...request });

    expectReplay(second, first);
    expectProblem(without, 400, 'IDEMPOTENCY_KEY_REQUIRED');
    expect(await app.effects.count()).toBe(1);
    expect(await app.records.count()).toBe(1);
  });

  it.each([
    ['PUT', '/class'],
    ['DELETE', '/class'],
    ['GET', '/class'],
    ['GET', '/method'],
    ['HEAD', '/method'],
    ['OPTIONS', '/method'],
    ['GET', '/method/all'],
    ['POST', '/method/bare'],
    ['POST', '/undecorated'],
  ])('never touches %s %s', async (method, path) => {
    const key = newKey();
    const request = { method, path, ...withoutBody(method) };
    const answers = [
      await app.post({ key, ...request }),
      await app.post({ key, ...request }),
      await app.post({ key: '"', ...request }),
      await app.post({ key: null, ...request }),
    ];

    const success = method === 'POST' ? 201 : 200;
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => success));
    for (const answer of answers) {
      expect(answer.headers).not.toHaveProperty('idempotent-replayed');
    }
    expect(await app.effects.count()).toBe(4);
    expect(await app.records.count()).toBe(0);
  });
});
