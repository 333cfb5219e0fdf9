import type { INestApplication } from '@nestjs/common';

/** What `main.ts` does before `app.listen()`. */
export function configure(app: INestApplication): void {
  app.enableCors({
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key'],
    exposedHeaders: ['Idempotent-Replayed', 'Retry-After', 'Link'],
  });
  app.enableShutdownHooks();
}
