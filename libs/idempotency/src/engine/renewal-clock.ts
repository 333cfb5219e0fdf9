import { Roster, type Rostered } from './roster.js';

/** Who is called again and again. */
export interface BeatListener extends Rostered {
  beat(): void;
}

/** One timer for all leases of one length: a timer for each request costs more, and what is due at once is renewed together. */
export class RenewalClock {
  private readonly beats = new Map<
    number,
    { readonly timer: NodeJS.Timeout; readonly listeners: Roster<BeatListener> }
  >();

  /**
   * Calls `listener` again and again.
   *
   * @param interval milliseconds; the first call may come earlier
   */
  add(interval: number, listener: BeatListener): void {
    this.beatOf(interval).add(listener);
  }

  remove(interval: number, listener: BeatListener): void {
    this.beats.get(interval)?.listeners.remove(listener);
  }

  stop(): void {
    this.beats.forEach(({ timer }) => clearInterval(timer));
    this.beats.clear();
  }

  private beatOf(interval: number): Roster<BeatListener> {
    const existing = this.beats.get(interval);
    if (existing) {
      return existing.listeners;
    }
    const listeners = new Roster<BeatListener>();
    const timer = setInterval(() => this.beat(interval, listeners), interval);
    timer.unref();
    this.beats.set(interval, { timer, listeners });
    return listeners;
  }

  private beat(interval: number, listeners: Roster<BeatListener>): void {
    if (listeners.size === 0) {
      clearInterval(this.beats.get(interval)?.timer);
      this.beats.delete(interval);
    }
    listeners.all().forEach((listener) => listener.beat());
  }
}
