import { describe, expect, it } from '@jest/globals';
import { Deadline } from '../engine/time-limit.js';
import { BatchQueue } from './batch-queue.js';

/** A time limit that ends between two looks at it. */
class EndingDeadline extends Deadline {
  private looks = 0;

  constructor() {
    super(60_000);
  }

  override leftAt(): number {
    this.looks += 1;
    return this.looks <= 2 ? 1 : 0;
  }
}

const LIMITS = { maxRows: 10, maxBytes: 1_000, parallel: 1, standstill: 100 };

describe('a queue whose work is never answered', () => {
  it('tells each item when its time is over, also one whose time ends while it is looked at', async () => {
    const options = { limits: LIMITS, isRefused: () => false };
    const queue = new BatchQueue<number, number>(() => new Promise(() => undefined), options);

    await Promise.all(
      [new EndingDeadline(), new EndingDeadline(), new Deadline(20)].map((deadline, item) =>
        expect(queue.add(item, deadline)).rejects.toThrow(/took longer/),
      ),
    );
  });
});
