import { FrontendMessages } from '../../support/frontend-messages.js';
import { CommitWatch } from './commit-watch.js';
import type { ClientMessage, Protocol } from './protocol.js';
import { isInTransaction } from './ready-for-query.js';

export class PostgresProtocol implements Protocol {
  readonly isInTransaction = isInTransaction;
  private readonly frontend = new FrontendMessages();
  private readonly commits = new CommitWatch();

  *messages(chunk: Buffer): Generator<ClientMessage> {
    for (const message of this.frontend.push(chunk)) {
      yield { bytes: message.bytes, commit: this.commits.commitOf(message) };
    }
  }
}
