import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ClassSerializerInterceptor,
  Controller,
  Post,
  SerializeOptions,
  UseInterceptors,
  type Provider,
} from '@nestjs/common';
import { APP_INTERCEPTOR, Reflector } from '@nestjs/core';
import { InjectRepository } from '@nestjs/typeorm';
import { Exclude, Expose, Transform } from 'class-transformer';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

class Account {
  @Exclude()
  password = 'hunter2';

  @Transform(({ value }) => `${value}.00`)
  balance = 12;

  @Expose({ groups: ['staff'] })
  note = 'only for staff';

  constructor(readonly id: number) {}

  @Expose()
  get label(): string {
    return `account ${this.id}`;
  }
}

function controllersFor(mode: IdempotencyMode) {
  class Accounts {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    async open(): Promise<Account> {
      const { id } = await this.effects.save({ name: 'account' });
      return new Account(id);
    }
  }

  @Controller('plain')
  class PlainController extends Accounts {
    @Post()
    @Idempotent({ mode })
    override open() {
      return super.open();
    }

    @Post('staff')
    @SerializeOptions({ groups: ['staff'] })
    @Idempotent({ mode })
    openForStaff() {
      return super.open();
    }
  }

  @Controller('controller')
  @UseInterceptors(ClassSerializerInterceptor)
  class SerializingController extends PlainController {}

  @Controller('handler')
  class SerializingHandlersController extends Accounts {
    @Post('above')
    @UseInterceptors(ClassSerializerInterceptor)
    @Idempotent({ mode })
    above() {
      return super.open();
    }

    @Post('below')
    @Idempotent({ mode })
    @UseInterceptors(ClassSerializerInterceptor)
    below() {
      return super.open();
    }
  }

  return [PlainController, SerializingController, SerializingHandlersController];
}

interface Wiring {
  where: string;
  paths: string[];
  providers?: Provider[];
  isGlobal?: boolean;
}

const WIRINGS: Wiring[] = [
  { where: 'as a global interceptor', paths: ['/plain'], isGlobal: true },
  {
    where: 'as APP_INTERCEPTOR',
    paths: ['/plain'],
    providers: [{ provide: APP_INTERCEPTOR, useClass: ClassSerializerInterceptor }],
  },
  { where: 'on the controller or the handler', paths: ['/controller', '/handler/above', '/handler/below'] },
];

onEachAdapterInEachMode((adapter, mode) => {
  describe.each(WIRINGS)('with ClassSerializerInterceptor $where', ({ paths, providers, isGlobal }) => {
    let app: IdempotentApp;

    beforeAll(async () => {
      app = await startIdempotentApp({
        adapter,
        controllers: controllersFor(mode),
        providers: providers ?? [],
        configure: (nest) => {
          if (isGlobal) nest.useGlobalInterceptors(new ClassSerializerInterceptor(nest.get(Reflector)));
        },
      });
    });
    afterAll(() => app.close());
    beforeEach(async () => {
      await app.effects.clear();
      await app.records.clear();
    });

    it.each(paths)(
      'C1: %s replays the serialized answer, and its record has no hidden field',
      async (path) => {
        const key = newKey();
        const first = await app.post({ key, path });
        const second = await app.post({ key, path });

        const [effect] = await app.effects.find();
        expect(first.status).toBe(201);
        expect(first.json()).toEqual({ balance: '12.00', id: effect!.id, label: `account ${effect!.id}` });
        expectReplay(second, first);
        expect(await app.effects.count()).toBe(1);
        const [record] = await app.records.find();
        expect(record!.body!.equals(first.body)).toBe(true);
        expect(record!.body!.toString()).not.toMatch(/password|hunter2|staff/);
      },
    );

    if (paths.includes('/plain') || paths.includes('/controller')) {
      it('C1: options of the serialization apply to the first answer and so to the replay', async () => {
        const key = newKey();
        const path = `${paths[0]}/staff`;
        const first = await app.post({ key, path });
        const second = await app.post({ key, path });

        expect(first.json()).toMatchObject({ note: 'only for staff' });
        expect(first.text).not.toMatch('hunter2');
        expectReplay(second, first);
        expect(await app.effects.count()).toBe(1);
      });
    }
  });
});
