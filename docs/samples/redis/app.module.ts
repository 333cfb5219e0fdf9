import { IdempotencyModule } from '@exactly-once/nestjs';
import { RedisIdempotencyStore } from '@exactly-once/redis';
import { Module } from '@nestjs/common';

// #region module
@Module({
  imports: [
    IdempotencyModule.forRoot({
      scope: (request) => request.user.id,
      store: new RedisIdempotencyStore(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'),
    }),
  ],
})
export class AppModule {}
// #endregion
