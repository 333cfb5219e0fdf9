import type { Deadline } from '../engine/time-limit.js';
import { StoreUnreachableError } from '../store/store-unreachable.error.js';

/** @publicApi */
export interface BatchLimits {
  /** Of one batch. */
  readonly maxRows: number;
  /** Of one batch, as `weightOf` has them; a larger item goes alone. */
  readonly maxBytes: number;
  /** Batches that may be under way at once. */
  readonly parallel: number;
  /** Milliseconds after which a batch that is under way holds up no other one: its connection may be dead. */
  readonly standstill: number;
}

/** What arrives while a batch is under way forms the next one, so an idle application waits for nothing. */
export const SHARED: BatchLimits = { maxRows: 256, maxBytes: 1024 * 1024, parallel: 1, standstill: 100 };

/** Each item by itself, at once. @publicApi */
export const SINGLE: BatchLimits = {
  maxRows: 1,
  maxBytes: Infinity,
  parallel: Infinity,
  standstill: Infinity,
};

/** @param batching the option */
export function limitsOf(batching: boolean): BatchLimits {
  return batching ? SHARED : SINGLE;
}

/**
 * Carries out all items in one round trip.
 *
 * @returns one result for each item
 * @publicApi
 */
export type BatchWork<Item, Result> = (items: readonly Item[], timeLimit: number) => Promise<Result[]>;

interface Impatient {
  readonly deadline: Deadline;
  readonly reject: (error: unknown) => void;
}

interface Waiting<Item, Result> extends Impatient {
  readonly item: Item;
  readonly bytes: number;
  readonly resolve: (result: Result) => void;
}

/** How the items of a queue are carried out. @publicApi */
export interface BatchOptions<Item> {
  readonly limits: BatchLimits;
  /** Whether the server has refused the batch, maybe for one of its items alone: then each is tried by itself. */
  readonly isRefused: (error: unknown) => boolean;
  /** Bytes. @default 0 */
  readonly weightOf?: (item: Item) => number;
}

/** Lets concurrent requests share round trips to a store. Its operations may be repeated, so an item may be tried twice. @publicApi */
export class BatchQueue<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private underWay = 0;
  private isScheduled = false;

  constructor(
    private readonly work: BatchWork<Item, Result>,
    private readonly options: BatchOptions<Item>,
  ) {}

  /** @param deadline the wait for the batch before included */
  add(item: Item, deadline: Deadline): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, bytes: this.options.weightOf?.(item) ?? 0, deadline, resolve, reject });
      this.schedule();
    });
  }

  /** After all that has arrived at the same moment. */
  private schedule(): void {
    if (!this.isScheduled && this.waiting.length > 0 && this.underWay < this.options.limits.parallel) {
      this.isScheduled = true;
      setImmediate(() => {
        this.isScheduled = false;
        this.sendNext();
        this.schedule();
      });
    }
  }

  private sendNext(): void {
    const batch = this.take();
    let counts = true;
    const stopCounting = (): void => {
      if (counts) {
        counts = false;
        this.underWay -= 1;
        this.schedule();
      }
    };
    this.underWay += 1;
    const { standstill } = this.options.limits;
    const timer = Number.isFinite(standstill) ? setTimeout(stopCounting, standstill) : undefined;
    void this.carryOut(batch).finally(() => {
      clearTimeout(timer);
      stopCounting();
    });
  }

  /** Waited for longer than it may, behind batches that were not answered. */
  private isLate({ deadline, reject }: Waiting<Item, Result>, now: number): boolean {
    if (deadline.leftAt(now) > 0) {
      return false;
    }
    reject(new StoreUnreachableError(deadline.error));
    return true;
  }

  private take(): Waiting<Item, Result>[] {
    const { maxRows, maxBytes } = this.options.limits;
    let bytes = 0;
    const end = this.waiting.findIndex((waiting, index) => {
      bytes += waiting.bytes;
      return index > 0 && (index === maxRows || bytes > maxBytes);
    });
    return this.waiting.splice(0, end === -1 ? this.waiting.length : end);
  }

  private async carryOut(all: readonly Waiting<Item, Result>[]): Promise<void> {
    const now = performance.now();
    const batch = all.filter((waiting) => !this.isLate(waiting, now));
    if (batch.length === 0) {
      return;
    }
    const stopWatch = watchDeadlines(batch);
    try {
      const timeLimit = batch.reduce((most, { deadline }) => Math.max(most, deadline.leftAt(now)), 1);
      const results = await this.work(
        batch.map(({ item }) => item),
        timeLimit,
      );
      batch.forEach(({ resolve }, index) => resolve(results[index]!));
    } catch (error) {
      if (batch.length > 1 && this.options.isRefused(error)) {
        // One bad row must not fail its neighbours.
        await Promise.all(batch.map((waiting) => this.carryOut([waiting])));
      } else {
        batch.forEach(({ reject }) => reject(error));
      }
    } finally {
      stopWatch();
    }
  }
}

/**
 * The statement may take as long as the most patient of them waits; each of the others is told when its own time is over.
 *
 * @returns ends it
 */
function watchDeadlines(batch: readonly Impatient[]): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watch = (): void => {
    // Each is looked at once: one whose time ends between two looks would be told by neither.
    let next = Infinity;
    const now = performance.now();
    for (const { deadline, reject } of batch) {
      const left = deadline.leftAt(now);
      if (left <= 0) {
        reject(deadline.error);
      } else {
        next = Math.min(next, left);
      }
    }
    if (next < Infinity) {
      timer = setTimeout(watch, next);
    }
  };
  watch();
  return () => clearTimeout(timer);
}
