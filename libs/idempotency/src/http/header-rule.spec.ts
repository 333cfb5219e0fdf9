import { describe, expect, it } from '@jest/globals';

import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import type { ReplayHeadersOptions } from '../options/idempotent-options.interface.js';
import { HeaderRule } from './header-rule.js';

const NEVER = [
  'set-cookie',
  'date',
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
];

const OF_ONE_REQUEST = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
  'ratelimit',
  'ratelimit-remaining',
  'x-ratelimit-limit',
  'x-rate-limit-reset',
  'request-id',
  'x-request-id',
  'x-correlation-id',
  'x-trace-id',
  'x-amzn-trace-id',
  'x-b3-traceid',
  'b3',
  'traceparent',
  'tracestate',
  'server-timing',
];

const OF_THE_ANSWER = [
  'location',
  'etag',
  'content-type',
  'content-encoding',
  'content-language',
  'content-disposition',
  'cache-control',
  'last-modified',
  'vary',
  'link',
  'retry-after',
  'x-total-count',
  'x-request-cost',
];

describe('by default', () => {
  const rule = new HeaderRule();

  it.each(OF_THE_ANSWER)('%s is replayed', (name) => {
    expect(rule.replays(name)).toBe(true);
  });

  it.each([...NEVER, ...OF_ONE_REQUEST])('%s is not replayed', (name) => {
    expect(rule.replays(name)).toBe(false);
  });
});

describe('the options', () => {
  it.each(OF_ONE_REQUEST)('can allow %s, in any case', (name) => {
    expect(new HeaderRule({ allow: [name.toUpperCase()] }).replays(name)).toBe(true);
  });

  it('can deny a header, in any case, and deny wins', () => {
    const rule = new HeaderRule({ allow: ['x-request-id'], deny: ['Location', 'X-Request-ID'] });

    expect(rule.replays('location')).toBe(false);
    expect(rule.replays('x-request-id')).toBe(false);
    expect(rule.replays('etag')).toBe(true);
  });

  it.each(NEVER)('cannot allow %s, and the message names it', (name) => {
    const make = () => new HeaderRule({ allow: [name.toUpperCase()] });

    expect(make).toThrow(IdempotencyConfigurationError);
    expect(make).toThrow(new RegExp(`\`replayHeaders\\.allow\` names '${name}'.*Take it out`));
  });

  it.each([
    [{ allow: 'x-quota' }, 'replayHeaders.allow'],
    [{ allow: [''] }, 'replayHeaders.allow'],
    [{ deny: 'x-quota' }, 'replayHeaders.deny'],
    [{ deny: [42] }, 'replayHeaders.deny'],
    [{ deny: {} }, 'replayHeaders.deny'],
    [{ allowed: ['x-quota'] }, 'replayHeaders.allowed'],
    [['x-quota'], 'replayHeaders'],
    ['x-quota', 'replayHeaders'],
    [null, 'replayHeaders'],
    [true, 'replayHeaders'],
  ])('are refused as %j, and the message names the one that is wrong', (options, name) => {
    const make = () => new HeaderRule(options as ReplayHeadersOptions);

    expect(make).toThrow(IdempotencyConfigurationError);
    expect(make).toThrow(`\`${name}\``);
  });
});
