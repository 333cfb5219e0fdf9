import { describe, expect, it } from '@jest/globals';

import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import type { IdempotencyModuleOptions } from './module-options.interface.js';
import { resolveModuleOptions } from './resolve-module-options.js';

const scope = () => 'somebody';

describe('the options of the module', () => {
  it('have these defaults', () => {
    expect(resolveModuleOptions({ scope })).toEqual({
      handlerDefaults: { scope },
      batching: true,
      documentationUrl: undefined,
      problemTypeBase: 'urn:exactly-once:problem:',
      purge: { interval: 60_000, batchSize: 1_000 },
    });
  });

  it('are converted, and what concerns a handler is passed on', () => {
    const options: IdempotencyModuleOptions = {
      scope,
      ttl: '1h',
      batching: false,
      purge: { interval: '5s', batchSize: 7 },
      documentationUrl: 'https://example.com/docs',
      problemTypeBase: 'https://example.com/problems/',
    };

    expect(resolveModuleOptions(options)).toEqual({
      handlerDefaults: { scope, ttl: '1h' },
      batching: false,
      documentationUrl: 'https://example.com/docs',
      problemTypeBase: 'https://example.com/problems/',
      purge: { interval: 5_000, batchSize: 7 },
    });
    expect(resolveModuleOptions({ scope, purge: false }).purge).toBe(false);
  });

  it.each<[string, unknown, RegExp]>([
    ['documentationUrl', 'docs/keys', /is 'docs\/keys'.*absolute URL.*'https:/],
    ['documentationUrl', 'https://example.com/a b', /absolute URL/],
    ['documentationUrl', 'https://example.com/>; rel="x"', /absolute URL/],
    ['documentationUrl', 42, /is 42.*absolute URL/],
    ['problemTypeBase', 'problems/', /is 'problems\/'.*absolute URL/],
    ['batching', 'yes', /is 'yes'.*true or false/],
    ['purge.interval', { interval: 'often' }, /is 'often'.*'30s'/],
    ['purge.batchSize', { batchSize: 0 }, /is 0.*1 to 100000/],
    ['purge.batchSize', { batchSize: 1.5 }, /is 1\.5.*1 to 100000/],
    ['purge.batchSize', { batchSize: '10' }, /is '10'.*1 to 100000/],
    ['purge.every', { every: '1m' }, /Use|does not exist/],
    ['purge', true, /is true.*false/],
    ['purge', '1m', /is '1m'.*false/],
    ['purge', null, /is null.*false/],
  ])('are refused for a wrong `%s` of %j, with a message that says what to use', (name, value, expected) => {
    const resolve = () => resolveModuleOptions({ scope, [name.split('.')[0]!]: value });

    expect(resolve).toThrow(IdempotencyConfigurationError);
    expect(resolve).toThrow(`\`${name}\``);
    expect(resolve).toThrow(expected);
  });

  it.each([undefined, {}])('are refused as %j, since a scope is missing', (options) => {
    expect(() => resolveModuleOptions(options as IdempotencyModuleOptions)).toThrow(/`scope` is undefined/);
  });

  it('are refused for a wrong default of the handlers', () => {
    expect(() => resolveModuleOptions({ scope, ttl: 'soon' as never })).toThrow(/`ttl` is 'soon'/);
  });

  it('never let a header get characters that Node refuses to send', () => {
    for (const address of [
      'https://example.com/\u6587\u66f8',
      'https://\u4f8b.example/',
      'https://example.com/\u0000',
    ]) {
      let resolved = '';
      try {
        resolved = resolveModuleOptions({ scope, documentationUrl: address }).documentationUrl!;
      } catch (error) {
        expect(error).toBeInstanceOf(IdempotencyConfigurationError);
      }
      expect(resolved).toMatch(/^[\x21-\x7e]*$/);
    }
  });
});
