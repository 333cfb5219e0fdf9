import { describe, expect, it } from '@jest/globals';

import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import type { IdempotentOptions } from './idempotent-options.interface.js';
import { resolveOptions } from './resolve-options.js';

const scope = () => 'somebody';

describe('the options of a handler', () => {
  it('have these defaults', () => {
    const { headerRule, storeIf, ...resolved } = resolveOptions({ scope });

    expect(resolved).toEqual({
      mode: 'transaction',
      required: true,
      ttl: 86_400_000,
      lockTtl: 30_000,
      retryAfter: 1_000,
      scope,
      keyFrom: undefined,
      header: 'Idempotency-Key',
      keyFormat: 'any',
      fingerprint: undefined,
      waitInFlight: 0,
      onAbandoned: 'fail',
      onStoreError: 'refuse',
      maxResponseBytes: 1_048_576,
      storeTimeout: 5_000,
      transactionTimeout: 60_000,
      isolation: undefined,
      operation: undefined,
    });
    expect(headerRule.replays('location')).toBe(true);
    expect(storeIf({ status: 404, mode: 'lease' })).toBe(true);
  });

  it('are merged field by field, later layers over earlier ones, and undefined leaves what is there', () => {
    const resolved = resolveOptions(
      { scope, ttl: '1h', header: 'A', lockTtl: '1m' },
      undefined,
      { ttl: '2h', header: 'B' },
      { ttl: '3h', header: undefined },
    );

    expect(resolved).toMatchObject({ scope, ttl: 10_800_000, header: 'B', lockTtl: 60_000 });
  });

  it('are converted to numbers', () => {
    const options = { inFlight: { wait: '2s' }, maxResponseBytes: '2kb', storeTimeout: 700 } as const;

    expect(resolveOptions({ scope: false, ...options })).toMatchObject({
      scope: false,
      waitInFlight: 2_000,
      maxResponseBytes: 2_048,
      storeTimeout: 700,
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['mode', 'both', /is 'both'.*'transaction', 'lease'/],
    ['required', 'yes', /is 'yes'.*true or false/],
    ['ttl', '1 day', /is '1 day'.*'24h'/],
    ['ttl', 1e18, /is 1000000000000000000.*Use/],
    ['lockTtl', 0, /is 0.*'30s'/],
    ['lockTtl', '25d', /is '25d'.*at most '24d'/],
    ['retryAfter', -1, /is -1.*'30s'/],
    ['retryAfter', 1e30, /is 1e\+30.*Use/],
    ['scope', undefined, /is undefined.*`scope: \(req\) => req\.user\.id`.*`scope: false`/],
    ['scope', 'user', /is 'user'.*`scope: false`/],
    ['scope', true, /is true.*`scope: false`/],
    ['scope', null, /is null.*`scope: false`/],
    ['keyFrom', 'body.id', /is 'body\.id'.*function/],
    ['header', 'Idempotency Key', /is 'Idempotency Key'.*'Idempotency-Key'/],
    ['header', '', /is ''.*'Idempotency-Key'/],
    ['header', ['a'], /is .*a.*'Idempotency-Key'/],
    ['keyFormat', 'bare', /is 'bare'.*'any', 'structured'/],
    ['fingerprint', { a: 1 }, /is \{.*a.*1.*\}.*function/],
    ['storeIf', true, /is true.*function/],
    ['inFlight', 'wait', /is 'wait'.*'reject', or \{ wait: '5s' \}/],
    ['inFlight', { waits: '5s' }, /is \{.*waits.*5s.*\}.*'reject', or \{ wait: '5s' \}/],
    ['inFlight.wait', { wait: 'long' }, /is 'long'.*'30s'/],
    ['inFlight.wait', { wait: '30d' }, /is '30d'.*at most '24d'/],
    ['onAbandoned', 'ignore', /is 'ignore'.*'fail', 'retry'/],
    ['onStoreError', 'ignore', /is 'ignore'.*'refuse', 'execute'/],
    ['maxResponseBytes', '1gb', /is '1gb'.*'1mb'/],
    ['replayHeaders.allow', { allow: 'x-quota' }, /list of header names/],
    ['storeTimeout', '25d', /is '25d'.*at most '24d'/],
    ['transactionTimeout', '25d', /is '25d'.*at most '24d'/],
    ['isolation', 'SNAPSHOT', /is 'SNAPSHOT'.*'READ COMMITTED'.*'SERIALIZABLE'/],
    ['operation', '', /is ''.*'create-order'/],
    ['operation', 7, /is 7.*'create-order'/],
  ])('are refused for a wrong `%s` of %j, with a message that says what to use', (name, value, expected) => {
    const resolve = () => resolveOptions({ scope }, { [name.split('.')[0]!]: value } as IdempotentOptions);
    const withoutScope = () => resolveOptions({ scope: value } as IdempotentOptions);
    const act = name === 'scope' ? withoutScope : resolve;

    expect(act).toThrow(IdempotencyConfigurationError);
    expect(act).toThrow(`\`${name}\``);
    expect(act).toThrow(expected);
  });

  it('are refused for a name that is not one, with a list of those that are', () => {
    const options = { retention: '24h' } as IdempotentOptions;

    expect(() => resolveOptions({ scope }, options)).toThrow(IdempotencyConfigurationError);
    expect(() => resolveOptions(options)).toThrow(
      /`retention` does not exist.*fingerprint.*onStoreError.*ttl.*forRoot.*purge, store/,
    );
  });
});
