import { ConsoleLogger } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import type { Environment } from './config/environment.js';
import { configureApp } from './configure-app.js';
import { createHttpAdapter } from './http/http-adapter.js';
import { listen } from './http/listen.js';
import { attachToParentProcess } from './parent-process.js';

const app = await NestFactory.create(AppModule, createHttpAdapter(process.env.HTTP_ADAPTER), {
  logger: new ConsoleLogger({ json: true, flattenParams: true }),
});
configureApp(app).enableShutdownHooks();

const config = app.get<ConfigService<Environment, true>>(ConfigService);
await listen(app, config.get('PORT', { infer: true }));
await attachToParentProcess(app);
