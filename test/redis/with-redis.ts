import { describeWith } from '../support/describe-with.js';
import { redisVersion } from './redis-server.js';

/** A suite that needs `redis-server`. */
export function describeWithRedis(title: string, body: () => void): void {
  const isThere = redisVersion() !== undefined;
  const program = { name: 'redis-server', isThere, package: 'redis-server', required: 'REQUIRE_REDIS' };
  describeWith(program, title, body);
}
