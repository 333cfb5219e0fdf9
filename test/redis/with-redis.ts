import { describe } from '@jest/globals';

import { redisVersion } from './redis-server.js';

/**
 * A suite that needs `redis-server`. It is left out where there is none, and says so; with `REQUIRE_REDIS=1`, as in CI,
 * it fails instead.
 */
export function describeWithRedis(title: string, body: () => void): void {
  if (redisVersion() !== undefined) {
    describe(title, body);
    return;
  }
  if (process.env.REQUIRE_REDIS === '1') {
    throw new Error(
      'REQUIRE_REDIS is 1, and there is no redis-server on this machine: apt-get install redis-server',
    );
  }
  process.stdout.write(
    `SKIPPED "${title}": there is no redis-server on this machine (apt-get install redis-server).\n`,
  );
  describe.skip(title, body);
}
