import type { EngineLogger } from './engine-logger.js';
import type { RecordIdentity } from './record-id.js';

/** How many are remembered; each takes about a hundred bytes. */
const MOST = 1_000;

/**
 * Tells of each abandoned attempt once in this process: its client may repeat the request every second, and nobody but an
 * operator can free the key.
 */
export class AbandonedAttempts {
  /** Their owners, the oldest first: of a key that is freed and abandoned again, the next attempt has another one. */
  private readonly told = new Set<string>();

  constructor(private readonly logger: EngineLogger) {}

  tell({ operation, scope, key }: RecordIdentity, owner: string): void {
    if (this.told.has(owner)) {
      return;
    }
    this.remember(owner);
    this.logger.warn(
      `The attempt of ${operation}, scope ${scope}, key ${key}, is abandoned: it may have had its effect, so every retry is ` +
        `refused. When somebody has looked at what it did, IdempotencyService.release() frees the key.`,
    );
  }

  private remember(owner: string): void {
    if (this.told.size === MOST) {
      const [oldest] = this.told;
      this.told.delete(oldest!);
    }
    this.told.add(owner);
  }
}
