import type { LeaseHold, IdempotencyStore } from '../store/idempotency-store.interface.js';
import type { EngineLogger } from './engine-logger.js';
import type { BeatListener, RenewalClock } from './renewal-clock.js';

/** Renews the lease of one attempt at least every third of `lockTtl`, so that two renewals may fail before it is in danger. */
export class LeaseKeeper implements BeatListener {
  /** Milliseconds: a lease that is not due at one beat is so at the next, a third of `lockTtl` after its last renewal. */
  private readonly interval: number;
  /** Read before the renewal was sent, by a clock that nobody sets: the lease lasts at least `lockTtl` from here. */
  private renewedAt: number;
  place = -1;
  private renewing = false;
  private stopped = false;
  private lostListener: (() => void) | undefined;

  /** @param claimedAt `performance.now()` before the claim was sent */
  constructor(
    private readonly store: IdempotencyStore,
    private readonly hold: LeaseHold,
    private readonly lockTtl: number,
    private readonly logger: EngineLogger,
    claimedAt: number,
    private readonly clock: RenewalClock,
  ) {
    this.renewedAt = claimedAt;
    this.interval = Math.max(1, Math.floor(lockTtl / 6));
    clock.add(this.interval, this);
  }

  /** Whether no other process can have taken the record over yet. */
  get isSurelyHeld(): boolean {
    return performance.now() - this.renewedAt < this.lockTtl;
  }

  /** The listener is called when another process is known to have the record. */
  onLost(listener: () => void): void {
    this.lostListener = listener;
  }

  stop(): void {
    this.stopped = true;
    this.clock.remove(this.interval, this);
  }

  /** Renews the lease if that is due. */
  beat(): void {
    if (!this.renewing && performance.now() - this.renewedAt >= this.interval) {
      void this.renew();
    }
  }

  private async renew(): Promise<void> {
    this.renewing = true;
    const sentAt = performance.now();
    try {
      const isHeld = await this.store.renew(this.hold, this.lockTtl);
      // Once the attempt is over, its record may be gone, and the connections too.
      if (!this.stopped) {
        this.renewed(isHeld, sentAt);
      }
    } catch (cause) {
      if (!this.stopped) {
        this.logger.warn('A lease could not be renewed; this is tried again.', cause);
      }
    } finally {
      this.renewing = false;
    }
  }

  private renewed(isHeld: boolean, sentAt: number): void {
    if (isHeld) {
      this.renewedAt = sentAt;
      return;
    }
    this.renewedAt = -Infinity;
    this.stop();
    this.lostListener?.();
    this.logger.warn(
      'A lease was lost while its handler runs: this process was stopped or cut off for longer than `lockTtl`.',
    );
  }
}
