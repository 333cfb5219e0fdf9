import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

import { FakeProject } from './fake-project.js';

// Starts and stops several processes, on a machine that may have other things to do.
jest.setTimeout(90_000);

describe('a launcher that cannot start', () => {
  let project: FakeProject;
  let occupied: Server;

  beforeAll(async () => {
    project = await FakeProject.create();
    occupied = createServer().listen(0, '127.0.0.1');
    await once(occupied, 'listening');
  });

  afterAll(async () => {
    occupied.close();
    await project.remove();
  });

  async function refusalOf(env: NodeJS.ProcessEnv): Promise<string> {
    const launcher = project.launch(env);
    expect(await launcher.exit()).toBe(1);
    expect(launcher.stdout).toBe('');
    return launcher.stderr;
  }

  it('says in one line that PORT is in use', async () => {
    const { port } = occupied.address() as AddressInfo;
    expect(await refusalOf({ PORT: String(port) })).toMatch(new RegExp(`^Port ${port} is in use\\..*\\n$`));
  });

  it('says in one line that DATABASE_URL leads nowhere, and keeps the password to itself', async () => {
    const refusal = await refusalOf({ DATABASE_URL: 'postgres://orders:secret@127.0.0.1:1/orders' });
    expect(refusal).toMatch(/^The database of DATABASE_URL cannot be used: .*ECONNREFUSED.*\n$/);
    expect(refusal).not.toContain('secret');
  });

  it('says in one line that REDIS_URL leads nowhere, before it starts a database, and keeps the password to itself', async () => {
    const REDIS_URL = 'redis://:secret@127.0.0.1:1';
    const refusal = await refusalOf({ IDEMPOTENCY_STORE: 'redis', REDIS_URL });
    expect(refusal).toMatch(/^The Redis of REDIS_URL cannot be used: .*ECONNREFUSED.*\n$/);
    expect(refusal).not.toContain('secret');
  });

  it.each([
    [{ DATABASE_URL: 'mysql://127.0.0.1/orders' }, /^DATABASE_URL has to begin with postgres:.*\n$/],
    [{ HTTP_ADAPTER: 'koa' }, /^HTTP_ADAPTER is 'koa'\..*'express' or 'fastify'.*\n$/],
    [{ IDEMPOTENCY_STORE: 'mysql' }, /^IDEMPOTENCY_STORE is 'mysql'\..*'postgres' or 'redis'.*\n$/],
    [{ IDEMPOTENCY_STORE: 'redis' }, /^IDEMPOTENCY_STORE is 'redis', so REDIS_URL has to be set.*\n$/],
    [{ PORT: 'http' }, /^PORT is 'http'\..*\n$/],
    [{ PORT: '65536' }, /^PORT is '65536'\..*\n$/],
  ])('says in one line what is wrong with %j', async (env, line) => {
    expect(await refusalOf(env)).toMatch(line);
  });

  it('shows what the migrations said, and stops the database', async () => {
    const refusal = await refusalOf({ PORT: '0', FAKE_APP: 'cannot migrate' });
    expect(refusal).toMatch(/The table is in the way\.\nThe migrations have failed.*\n$/);
    expect(await project.postmaster()).toBeUndefined();
  });

  it('gives up on an app that never gets ready, shows what it said, and stops the database', async () => {
    const refusal = await refusalOf({ PORT: '0', FAKE_APP: 'dies' });
    expect(refusal).toMatch(
      /An address in the log of the app.*\nThe app has ended 5 times .* exit code 7\.\n$/,
    );
    expect(await project.postmaster()).toBeUndefined();
  });
});
