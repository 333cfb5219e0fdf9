import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SwaggerModule } from '@nestjs/swagger';
import type { Answer } from './answer-table.js';
import { MockModule } from './mock.module.js';
import { describeAnswers } from './open-api.js';

/** The mock, with a page at `/` that lists its endpoints and sends them. */
export async function makeApp(answers: readonly Answer[]): Promise<INestApplication> {
  const app = await NestFactory.create(MockModule.with(answers), {
    // What a page from elsewhere may read of an answer.
    cors: { exposedHeaders: ['Idempotent-Replayed', 'Retry-After', 'Location'] },
    // Bodies do not matter, and so they may be wrong, too.
    bodyParser: false,
    logger: ['error', 'warn'],
  });
  SwaggerModule.setup('/', app, describeAnswers(answers), {
    customSiteTitle: 'Mock payments',
    jsonDocumentUrl: 'openapi.json',
  });
  return app;
}
