import type { ClientMessage, Protocol } from './protocol.js';
import { RedisCommands } from './redis-commands.js';

const SCRIPT_CALL = /^eval(?:sha)?$/i;

/** The name of the command, the script, how many keys it has, and the key. */
const WORDS_OF_A_READ = 4;

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

/** A script that writes to a record is given the owner, at least. */
function writesRecord(words: readonly Buffer[]): boolean {
  return SCRIPT_CALL.test(String(words[0])) && words.length > WORDS_OF_A_READ;
}
