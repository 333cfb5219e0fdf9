import { IdempotencyModule } from '@exactly-once/nestjs';

const { forRootAsync } = IdempotencyModule;
IdempotencyModule.forRootAsync = ({ useFactory, ...options }) =>
  forRootAsync.call(IdempotencyModule, {
    ...options,
    useFactory: async (...dependencies) => ({ ...(await useFactory(...dependencies)), batching: false }),
  });
