import { Logger } from '@nestjs/common';
import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import { type ByteSize, describe, type Duration, parseByteSize, parseDuration } from '../options/duration.js';
import { checkFields } from '../options/known-fields.js';
import { AtomicRecordStore } from '../store/atomic-record.store.js';
import { absentFrom, type RecordChange, type StoredRecord } from '../store/stored-record.js';

/** @publicApi */
export interface InMemoryStoreOptions {
  /** Records at most; a claim that would be one more is refused with 503. @default 10000 */
  maxEntries?: number;
  /** Bytes of all records together; an answer that would be too much is recorded as unavailable. @default '64mb' */
  maxBytes?: ByteSize;
  /**
   * Lets an application start with it although `NODE_ENV` is `production`: for a single process that may forget its
   * records at a restart. @default false
   */
  allowInProduction?: boolean;
}

/** Bytes that a record takes beside its texts and buffers, roughly. */
const OVERHEAD = 500;

/**
 * Keeps records in this process: for tests, and for development with a single process. Other processes do not see them,
 * and a restart forgets them. It never drops a live record to make room, since a retry would execute again.
 *
 * @publicApi
 */
export class InMemoryIdempotencyStore extends AtomicRecordStore {
  private readonly logger = new Logger('Idempotency');
  private readonly records = new Map<string, StoredRecord>();
  private readonly maxEntries: number;
  private readonly maxBytes: number;
  private readonly allowInProduction: boolean;
  private bytes = 0;
  /** Milliseconds that the clock was moved by. */
  private ahead = 0;

  /** @throws IdempotencyConfigurationError for an option that does not exist, or a wrong value */
  constructor(options: InMemoryStoreOptions = {}) {
    super();
    checkFields('InMemoryIdempotencyStore', options, ['maxEntries', 'maxBytes', 'allowInProduction']);
    const { maxEntries = 10_000, maxBytes = '64mb', allowInProduction = false } = options;
    if (!Number.isInteger(maxEntries) || maxEntries < 1) {
      throw new IdempotencyConfigurationError(
        `The option \`maxEntries\` is ${describe(maxEntries)}. Use a whole number, at least 1.`,
      );
    }
    if (typeof allowInProduction !== 'boolean') {
      throw new IdempotencyConfigurationError(
        `The option \`allowInProduction\` is ${describe(allowInProduction)}. Use true or false.`,
      );
    }
    this.maxEntries = maxEntries;
    this.maxBytes = parseByteSize('maxBytes', maxBytes);
    this.allowInProduction = allowInProduction;
  }

  /** @throws IdempotencyConfigurationError in production */
  async open(): Promise<void> {
    if (process.env.NODE_ENV === 'production' && !this.allowInProduction) {
      throw new IdempotencyConfigurationError(
        'NODE_ENV is production, and the idempotency records are kept in memory: other processes do not see them, and a ' +
          'restart forgets them, so a retry would execute again. Leave the option `store` out to keep them in Postgres, use ' +
          '`@exactly-once/redis`, or set `new InMemoryIdempotencyStore({ allowInProduction: true })`.',
      );
    }
  }

  async purge(limit: number): Promise<number> {
    const now = this.now();
    let removed = 0;
    for (const [id, record] of this.records) {
      if (removed === limit) {
        break;
      }
      if (absentFrom(record) <= now) {
        this.put(id, undefined);
        removed += 1;
      }
    }
    return removed;
  }

  /** Number of records, with those that have expired and were not removed yet. */
  get size(): number {
    return this.records.size;
  }

  /** The record of a key; of several with this key (of other callers or operations) the newest. */
  peek(key: string): StoredRecord | undefined {
    return [...this.records.values()].findLast((record) => record.key === key);
  }

  /** Forgets all records. */
  clear(): void {
    this.records.clear();
    this.bytes = 0;
  }

  /**
   * Lets time pass for leases and retentions, without waiting.
   *
   * @param by milliseconds, or a text such as `'25h'`
   */
  moveClock(by: Duration): void {
    this.ahead += parseDuration('by', by);
  }

  /** Nothing happens between the look and the write, so there is nothing to compare. */
  protected async change<T>(id: Buffer, change: RecordChange<T>): Promise<T> {
    const place = id.toString('latin1');
    const found = this.records.get(place);
    const { record, result } = change(found, this.now());
    if (record !== found) {
      this.put(place, record && this.fitting(record, found));
    }
    return result;
  }

  /** @throws Error where there is no room for it */
  private fitting(record: StoredRecord, found: StoredRecord | undefined): StoredRecord {
    if (!found && this.records.size >= this.maxEntries) {
      void this.purge(Infinity);
      if (this.records.size >= this.maxEntries) {
        throw new Error(
          `The in-memory store has its ${this.maxEntries} records (\`maxEntries\`), and none has expired.`,
        );
      }
    }
    const { response } = record;
    if (this.hasRoomFor(record, found)) {
      // A copy, since the handler may go on with its buffer.
      return response === null || response === 'unavailable' || response === found?.response
        ? record
        : { ...record, response: { ...response, body: Buffer.from(response.body) } };
    }
    if (record.completedAt === null) {
      throw new Error(`The in-memory store is full (\`maxBytes\` is ${this.maxBytes}).`);
    }
    this.logger.warn(
      `An answer of ${record.operation} was not recorded, since the in-memory store is full (\`maxBytes\` is ` +
        `${this.maxBytes}). A retry gets 409 IDEMPOTENCY_RESPONSE_UNAVAILABLE.`,
    );
    return { ...record, response: 'unavailable' };
  }

  private hasRoomFor(record: StoredRecord, found: StoredRecord | undefined): boolean {
    const more = sizeOf(record) - sizeOf(found);
    if (more > 0 && this.bytes + more > this.maxBytes) {
      void this.purge(Infinity);
    }
    return more <= 0 || this.bytes + more <= this.maxBytes;
  }

  private put(place: string, after: StoredRecord | undefined): void {
    // What is there now: to make room, a purge may have removed what was found.
    this.bytes += sizeOf(after) - sizeOf(this.records.get(place));
    if (after) {
      this.records.set(place, after);
    } else {
      this.records.delete(place);
    }
  }

  private now(): number {
    return Date.now() + this.ahead;
  }
}

function sizeOf(record: StoredRecord | undefined): number {
  if (!record) {
    return 0;
  }
  const { scope, operation, key, steps, response } = record;
  const texts = [scope ?? '', operation, key, steps ?? ''];
  const answer =
    response === null || response === 'unavailable'
      ? 0
      : response.body.byteLength + Buffer.byteLength(JSON.stringify(response.headers));
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), OVERHEAD + answer);
}
