import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  Controller,
  ForbiddenException,
  Post,
  Req,
  UnauthorizedException,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

/** What only the server knows: whom a token belongs to. */
const sessions = new Map<string, { user: string; revoked: boolean }>();

class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest();
    const session = sessions.get(request.headers.authorization);
    if (!session) {
      throw new UnauthorizedException();
    }
    if (session.revoked) {
      throw new ForbiddenException();
    }
    request.user = session.user;
    return true;
  }
}

const scope = (request: { user: string }) => request.user;

function controllersFor(mode: IdempotencyMode) {
  class Orders {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    async create(user: string) {
      const { id } = await this.effects.save({ name: user });
      return { id, owner: user };
    }
  }

  @Controller('guard-above')
  class GuardAboveController extends Orders {
    @Post()
    @UseGuards(TokenGuard)
    @Idempotent({ mode, scope })
    override create(@Req() { user }: any) {
      return super.create(user);
    }
  }

  @Controller('guard-below')
  class GuardBelowController extends Orders {
    @Post()
    @Idempotent({ mode, scope })
    @UseGuards(TokenGuard)
    override create(@Req() { user }: any) {
      return super.create(user);
    }
  }

  @Controller('guarded-controller')
  @UseGuards(TokenGuard)
  @Idempotent({ mode, scope })
  class GuardedController extends Orders {
    @Post()
    override create(@Req() { user }: any) {
      return super.create(user);
    }
  }
  return [GuardAboveController, GuardBelowController, GuardedController];
}

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: controllersFor(mode) });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
    sessions.clear();
    sessions.set('token-1', { user: 'alice', revoked: false });
    sessions.set('token-2', { user: 'alice', revoked: false });
    sessions.set('token-3', { user: 'bob', revoked: false });
  });

  const create = (path: string, key: string, authorization: string) =>
    app.post({ path, key, headers: { authorization } });

  it.each(['/guard-above', '/guard-below', '/guarded-controller'])(
    'C9: two users of %s with the same key and body have two effects and two responses',
    async (path) => {
      const key = newKey();
      const alice = await create(path, key, 'token-1');
      const bob = await create(path, key, 'token-3');

      expect([alice.status, bob.status]).toEqual([201, 201]);
      expect([alice.json().owner, bob.json().owner]).toEqual(['alice', 'bob']);
      expect(await app.effects.count()).toBe(2);
      expectReplay(await create(path, key, 'token-1'), alice);
      expectReplay(await create(path, key, 'token-3'), bob);
    },
  );

  it('B7: the record belongs to what the server knows of the client, which no request says', async () => {
    const key = newKey();
    await create('/guard-above', key, 'token-1');
    await create('/guard-above', key, 'token-3');

    const records = await app.records.find({ where: { key }, order: { scope: 'ASC' } });
    expect(records.map((record) => record.scope)).toEqual(['alice', 'bob']);
    expect(records[0]!.id.equals(records[1]!.id)).toBe(false);
  });

  it.each(['/guard-above', '/guard-below', '/guarded-controller'])(
    'C13: a user of %s whose access was revoked gets 403, or 401, and no replay',
    async (path) => {
      const key = newKey();
      const first = await create(path, key, 'token-1');
      sessions.get('token-1')!.revoked = true;
      const revoked = await create(path, key, 'token-1');
      sessions.delete('token-1');
      const unknown = await create(path, key, 'token-1');

      expect(first.status).toBe(201);
      expect([revoked.status, unknown.status]).toEqual([403, 401]);
      for (const answer of [revoked, unknown]) {
        expect(answer.headers).not.toHaveProperty('idempotent-replayed');
        expect(answer.text).not.toMatch('alice');
      }
      expect(await app.effects.count()).toBe(1);
    },
  );

  it('C14: a token that was refreshed between two attempts is the same user, so it gets a replay', async () => {
    const key = newKey();
    const first = await create('/guard-above', key, 'token-1');
    sessions.delete('token-1');
    const second = await create('/guard-above', key, 'token-2');

    expectReplay(second, first);
    expect(await app.effects.count()).toBe(1);
  });
});
