import { describe, expect, it } from '@jest/globals';
// Nest loads it in the app, and class-transformer needs it.
// oxlint-disable-next-line import/no-unassigned-import
import 'reflect-metadata';

import { validateEnvironment } from '../../apps/orders/src/config/validate-environment.js';

const DATABASE_URL = 'postgres://localhost/orders';

describe('where the sample application keeps its records', () => {
  it('is Postgres, if nothing is said, and then REDIS_URL does not matter', () => {
    expect(validateEnvironment({ DATABASE_URL, REDIS_URL: 'nowhere' }).IDEMPOTENCY_STORE).toBe('postgres');
  });

  it.each(['redis://localhost:6379', 'redis://:password@redis/1', 'rediss://user:password@redis.example'])(
    'may be the Redis at %s',
    (REDIS_URL) => {
      expect(validateEnvironment({ DATABASE_URL, IDEMPOTENCY_STORE: 'redis', REDIS_URL })).toMatchObject({
        IDEMPOTENCY_STORE: 'redis',
        REDIS_URL,
      });
    },
  );

  it.each([
    [{ IDEMPOTENCY_STORE: 'mysql' }, "IDEMPOTENCY_STORE is 'mysql': it must be 'postgres' or 'redis'."],
    [
      { IDEMPOTENCY_STORE: 'redis' },
      'REDIS_URL is not set: it must be the address of a Redis server, such as',
    ],
    [{ IDEMPOTENCY_STORE: 'redis', REDIS_URL: '' }, 'REDIS_URL is not set: it must be'],
    [
      { IDEMPOTENCY_STORE: 'redis', REDIS_URL: 'localhost:6379' },
      "REDIS_URL is 'localhost:6379': it must be",
    ],
  ])('stops the application with %j', (variables, message) => {
    expect(() => validateEnvironment({ DATABASE_URL, ...variables })).toThrow(message);
  });

  it('is told without its password when it is wrong', () => {
    const REDIS_URL = 'http://:secret@redis';
    const validate = () => validateEnvironment({ DATABASE_URL, IDEMPOTENCY_STORE: 'redis', REDIS_URL });
    expect(validate).toThrow("REDIS_URL is 'http://:***@redis'");
  });
});
