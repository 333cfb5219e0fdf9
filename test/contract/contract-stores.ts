/** By what they need: nothing, a Postgres, `redis-server`, `mariadbd`. */
export const ON_NO_SERVER = ['in memory'] as const;
export const ON_POSTGRES = [
  "a store of one's own (docs/samples/own-store)",
  'Postgres, a statement for each operation',
  'Postgres, shared statements',
] as const;
export const ON_REDIS = ['Redis, ioredis 5', 'Redis, ioredis 6', 'Redis Cluster, three servers'] as const;
export const ON_MARIADB = ['MariaDB'] as const;

/** The stores that keep the contract, in the order of the report. */
export const STORES = [...ON_NO_SERVER, ...ON_POSTGRES, ...ON_REDIS, ...ON_MARIADB] as const;

export type StoreName = (typeof STORES)[number];

/** Numbers of callers that race; each store is tried with all of them. */
export const CALLERS = [16, 64] as const;

/** In place of a server's name where there is none on this machine, so that its stores are left out. */
export const NO_REDIS = 'no redis-server';
export const NO_MARIADB = 'no mariadbd';
