import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Delays between two looks at the same thing: they double up to a bound, and each is drawn between half and
 * the whole of its value, so that requests that began together do not stay together.
 */
export class BackOff {
  constructor(
    private delay: number,
    private readonly longest: number,
  ) {}

  /**
   * @param bound milliseconds that this sleep must not exceed
   * @param signal ends it early
   */
  async sleep(bound = Infinity, signal?: AbortSignal): Promise<void> {
    const drawn = this.delay * (0.5 + Math.random() / 2);
    this.delay = Math.min(this.delay * 2, this.longest);
    await sleep(Math.max(0, Math.min(drawn, bound)), undefined, { signal }).catch(() => undefined);
  }
}
