import { Injectable } from '@nestjs/common';

/** A mock that runs for weeks keeps no more than this. */
const MOST = 100_000;

/** The keys that were sent since the start, for each operation. That a key was used for another body is not noticed. */
@Injectable()
export class SeenKeys {
  private readonly seen = new Set<string>();

  /** @returns whether it is the first request with the key */
  isFirst(operation: string, key: string): boolean {
    const entry = `${operation} ${key}`;
    if (this.seen.has(entry)) {
      return false;
    }
    if (this.seen.size >= MOST) {
      const [oldest] = this.seen;
      this.seen.delete(oldest!);
    }
    this.seen.add(entry);
    return true;
  }
}
