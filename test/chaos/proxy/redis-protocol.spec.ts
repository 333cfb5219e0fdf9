import { expect, it } from '@jest/globals';

import { RedisProtocol } from './redis-protocol.js';

function command(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

const PING = command('ping');
const CLAIM = command('evalsha', 'a'.repeat(40), '1', 'idempotency:1', 'owner', 'naïve\r\n*1\r\n');
const FIND = command('EVAL', 'return 1', '1', 'idempotency:1');

function messagesOf(chunks: Buffer[]): [string, string | undefined][] {
  const protocol = new RedisProtocol();
  return chunks.flatMap((chunk) =>
    [...protocol.messages(chunk)].map(({ bytes, commit }): [string, string | undefined] => [
      bytes.toString(),
      commit,
    ]),
  );
}

const EXPECTED = [
  [PING, undefined],
  [CLAIM, 'lease write'],
  [FIND, undefined],
];

it('tells commands apart that arrive together, and which of them write a record', () => {
  expect(messagesOf([Buffer.from(PING + CLAIM + FIND)])).toEqual(EXPECTED);
});

it('waits for the rest of a command, wherever it was broken', () => {
  const bytes = [...Buffer.from(PING + CLAIM + FIND)].map((byte) => Buffer.from([byte]));

  expect(messagesOf(bytes)).toEqual(EXPECTED);
});
