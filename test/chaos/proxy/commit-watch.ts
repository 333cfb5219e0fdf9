import type { FrontendMessage } from '../../support/frontend-messages.js';
import type { Commit } from './cut-plan.js';

const ENDS_IN_COMMIT = /\bCOMMIT\s*;?\s*$/i;

/** In `lease` mode the writes of a record commit by themselves. */
const WRITES_RECORD = /^\s*(?:INSERT|UPDATE|DELETE|WITH)\b.*"idempotency_/is;

const TYPE_AND_LENGTH_BYTES = 5;

/** Tells which messages of one client commit something. */
export class CommitWatch {
  /** Names of the prepared statements that write a record; the unnamed one is prepared again and again. */
  private readonly writing = new Set<string>();
  private isWriting = false;

  commitOf({ bytes, query }: FrontendMessage): Commit | undefined {
    if (query !== undefined) {
      return ENDS_IN_COMMIT.test(query) ? 'COMMIT' : undefined;
    }
    switch (String.fromCharCode(bytes[0]!)) {
      case 'P': {
        const [name, sql] = texts(bytes);
        if (WRITES_RECORD.test(sql)) this.writing.add(name);
        else this.writing.delete(name);
        return undefined;
      }
      case 'B': {
        const [, statement] = texts(bytes);
        this.isWriting ||= this.writing.has(statement);
        return undefined;
      }
      // Only with Sync is what was executed committed.
      case 'S': {
        const commits = this.isWriting;
        this.isWriting = false;
        return commits ? 'lease write' : undefined;
      }
      default:
        return undefined;
    }
  }
}

/** The two texts that Parse (name, SQL) and Bind (portal, name) begin with, each ended by a zero byte. */
function texts(bytes: Buffer): [string, string] {
  const first = bytes.indexOf(0, TYPE_AND_LENGTH_BYTES);
  const second = bytes.indexOf(0, first + 1);
  return [bytes.toString('utf8', TYPE_AND_LENGTH_BYTES, first), bytes.toString('utf8', first + 1, second)];
}
