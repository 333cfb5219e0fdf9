import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SwaggerModule } from '@nestjs/swagger';
import type { Answer } from './answer-table.js';
import { MockModule } from './mock.module.js';
import { describeAnswers } from './open-api.js';

/** The mock, with a page at `/` that lists its endpoints and sends them. */
export async function makeApp(answers: readonly Answer[]): Promise<INestApplication> {
  const app = await NestFactory.create(MockModule.with(answers), { cors: true, logger: ['error', 'warn'] });
  SwaggerModule.setup('/', app, describeAnswers(answers), {
    customSiteTitle: 'Mock payments',
    jsonDocumentUrl: 'openapi.json',
  });
  return app;
}
