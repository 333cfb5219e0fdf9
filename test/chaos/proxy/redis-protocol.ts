import type { ClientMessage, Protocol } from './protocol.js';
import { RedisCommands } from './redis-commands.js';

const SCRIPT_CALL = /^eval(?:sha)?$/i;

/** The name of the command, the script, and how many keys follow. */
const WORDS_BEFORE_KEYS = 3;

/** A client of Redis that sends commands without waiting for the answers, on one connection. */
export class RedisProtocol implements Protocol {
  private readonly commands = new RedisCommands();

  *messages(chunk: Buffer): Generator<ClientMessage> {
    for (const { bytes, words } of this.commands.push(chunk)) {
      yield { bytes, commit: writesRecord(words) ? 'lease write' : undefined };
    }
  }

  /** What a script does is done as a whole, so there are no transactions. */
  isInTransaction(): boolean {
    return false;
  }
}

/** A script that writes to records is given their owners, at least. One that reads is given the keys alone. */
function writesRecord(words: readonly Buffer[]): boolean {
  const keys = Number(words[WORDS_BEFORE_KEYS - 1]);
  return SCRIPT_CALL.test(String(words[0])) && words.length > WORDS_BEFORE_KEYS + keys;
}
