import { IdempotencyService } from '@exactly-once/nestjs';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
const removed = await app.get(IdempotencyService).purge();
console.log(`${removed} expired records removed.`);
await app.close();
