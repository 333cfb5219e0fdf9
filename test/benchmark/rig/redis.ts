import type { RedisServer } from '../../redis/redis-server.js';
import type { VariantName } from '../processes/server/settings.js';

/** A database for each variant that uses Redis: the keys of all are kept at the same time, and counted by variant. */
const NUMBERS: Partial<Record<VariantName, number>> = { 'node-idempotency': 0, 'lease-redis': 1 };

export function usesRedis(variant: VariantName): boolean {
  return NUMBERS[variant] !== undefined;
}

/** What one variant keeps in the Redis of the run. */
export class RedisDatabase {
  private constructor(
    private readonly server: RedisServer,
    private readonly number: number,
  ) {}

  /** @returns undefined for a variant that uses none */
  static of(variant: VariantName, server: RedisServer | string): RedisDatabase | undefined {
    const number = NUMBERS[variant];
    if (number === undefined || typeof server === 'string') return undefined;
    return new RedisDatabase(server, number);
  }

  get url(): string {
    return `${this.server.url}/${this.number}`;
  }

  async clear(): Promise<void> {
    await this.server.ask(async (client) => {
      await client.select(this.number);
      await client.flushdb();
    });
  }

  /** Keys that it has. */
  count(): Promise<number> {
    return this.server.ask(async (client) => {
      await client.select(this.number);
      return client.dbsize();
    });
  }
}
