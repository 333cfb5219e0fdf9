/** Environment variable with the settings of a server, as JSON. */
export const SERVER_SETTINGS = 'BENCHMARK_SERVER';

export type AdapterName = 'express' | 'fastify';

export const VARIANTS = [
  'bare',
  'transaction',
  'lease',
  'lease-unbatched',
  'lease-redis',
  'recipe',
  'node-idempotency',
] as const;

/** How the handlers of a server are protected. */
export type VariantName = (typeof VARIANTS)[number];

export interface ServerSettings {
  variant: VariantName;
  adapter: AdapterName;
  databaseUrl: string;
  /** With the number of a database; for the variants that use Redis. */
  redisUrl?: string;
  /** Connections to the database. */
  poolSize: number;
}
