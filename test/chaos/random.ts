import { createHash } from 'node:crypto';

/**
 * Numbers that follow from the seed alone. Each purpose draws from a stream of its own, so that how often one
 * of them draws, which depends on timing, does not change what the others get.
 */
export class Random {
  private state: number;

  constructor(seed: number, stream: string) {
    this.state = createHash('sha256').update(`${seed}/${stream}`).digest().readUInt32LE();
  }

  /** From 0 up to, and without, 1. The generator is mulberry32. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Between the two, in any fraction. */
  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** A whole number from `low` up to and with `high`. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.integer(0, list.length - 1)]!;
  }
}
