import { type INestApplication, ValidationPipe, VersioningType } from '@nestjs/common';
import { setupDocs } from './docs/setup-docs.js';
import { requestLog } from './http/request-log.middleware.js';

/** Everything about HTTP that is the same in production and in tests. */
export function configureApp<App extends INestApplication>(app: App): App {
  app.use(requestLog);
  app.enableCors({
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key'],
    exposedHeaders: ['Idempotent-Replayed', 'Link', 'Location', 'Retry-After'],
  });
  app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
  setupDocs(app);
  return app;
}
