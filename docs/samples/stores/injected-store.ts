import { IdempotencyModule } from '@exactly-once/nestjs';
import { RedisIdempotencyStore } from '@exactly-once/redis';
import { Module } from '@nestjs/common';

// #region module
@Module({
  providers: [
    {
      provide: RedisIdempotencyStore,
      useFactory: () => new RedisIdempotencyStore(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'),
    },
  ],
  exports: [RedisIdempotencyStore],
})
export class StoreModule {}

@Module({
  imports: [
    IdempotencyModule.forRootAsync({
      imports: [StoreModule],
      inject: [RedisIdempotencyStore],
      useFactory: (store: RedisIdempotencyStore) => ({ store, scope: (request) => request.user.id }),
    }),
  ],
})
export class AppModule {}
// #endregion
