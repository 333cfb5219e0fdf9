import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';

/** Swagger UI at /docs, the OpenAPI document at /docs-json. */
export function setupDocs(app: INestApplication): void {
  const config = new DocumentBuilder()
    .setTitle('Orders')
    .setDescription('A shop whose POSTs happen exactly once. Authorize as `demo-alice` or `demo-bob`.')
    .setVersion('1')
    .addBearerAuth()
    .build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, config), {
    swaggerOptions: { persistAuthorization: true },
  });
}
