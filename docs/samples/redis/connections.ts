import { RedisIdempotencyStore } from '@exactly-once/redis';
import { Cluster, type Redis } from 'ioredis';

// #region connections
/** `rediss` is TLS. User, password and the number of the database may stand in the URL. */
export const byUrl = () => new RedisIdempotencyStore('rediss://shop:secret@redis.example:6380/0');

/** What ioredis takes for one server. */
export const byOptions = () =>
  new RedisIdempotencyStore({ host: 'redis.example', username: 'shop', password: 'secret', tls: {} });

/** The master that Sentinel names, also after a fail-over. */
export const bySentinel = () =>
  new RedisIdempotencyStore({
    name: 'shop',
    sentinels: ['sentinel-1.example', 'sentinel-2.example', 'sentinel-3.example'].map((host) => ({ host })),
  });

/** This `Cluster` only carries the options; with `lazyConnect` it opens no connection itself. */
export const inCluster = () =>
  new RedisIdempotencyStore(new Cluster([{ host: 'redis.example', port: 6379 }], { lazyConnect: true }));

/** A client that the application has already: its options are taken over, and its connection is left alone. */
export const like = (client: Redis) => new RedisIdempotencyStore(client, { keyPrefix: 'shop:idempotency:' });
// #endregion
