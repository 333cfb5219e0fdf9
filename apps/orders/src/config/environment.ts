import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, Matches, Max, Min, ValidateIf } from 'class-validator';
import { type Duration, IsDuration } from './duration.js';

/** Every variable that the application reads, with its rule and its default. */
export class Environment {
  @Matches(/^postgres(ql)?:\/\/./, {
    message:
      'must be the address of a Postgres database, such as postgres://user:password@localhost:5432/orders',
  })
  DATABASE_URL: string;

  /** The most connections that the application opens. A request uses at most one at a time. */
  @Type(() => Number)
  @IsInt({ message: 'must be a whole number, such as 10' })
  @Min(1, { message: 'must be at least 1' })
  DB_POOL_SIZE: number = 10;

  @Type(() => Number)
  @IsInt({ message: 'must be a port number, such as 3000' })
  @Min(0, { message: 'must be a port number from 0 to 65535 (0 takes any free port)' })
  @Max(65_535, { message: 'must be a port number from 0 to 65535 (0 takes any free port)' })
  PORT: number = 3000;

  @IsIn(['express', 'fastify'], { message: "must be 'express' or 'fastify'" })
  HTTP_ADAPTER: 'express' | 'fastify' = 'express';

  /** Where the idempotency records are. */
  @IsIn(['postgres', 'redis'], { message: "must be 'postgres' or 'redis'" })
  IDEMPOTENCY_STORE: 'postgres' | 'redis' = 'postgres';

  @ValidateIf(({ IDEMPOTENCY_STORE }: Environment) => IDEMPOTENCY_STORE === 'redis')
  @Matches(/^rediss?:\/\/./, {
    message:
      "must be the address of a Redis server, such as redis://localhost:6379, where IDEMPOTENCY_STORE is 'redis'",
  })
  REDIS_URL: string;

  /** How long a request that died keeps its key in lease mode. */
  @IsDuration()
  LOCK_TTL: Duration = '30s';

  /** How long a first answer is replayed. */
  @IsDuration()
  IDEMPOTENCY_TTL: Duration = '24h';

  /** How often expired records are removed. */
  @IsDuration()
  PURGE_INTERVAL: Duration = '1m';

  /** Address of the payment gateway; without it, a fake one in this process is used. */
  @IsOptional()
  @Matches(/^https?:\/\/./, {
    message: 'must be the address of the payment gateway, such as https://pay.example.com',
  })
  GATEWAY_URL?: string;

  /** How long the fake payment gateway takes to answer. */
  @IsDuration()
  GATEWAY_LATENCY: Duration = '1s';
}
