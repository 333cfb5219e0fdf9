import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';

import { databaseAndLibrary } from './database-module.js';
import { OperatorController } from './operator.controller.js';
import { StepsController } from './steps.controller.js';
import { WorkController } from './work.controller.js';
import { parent, Work } from './work.js';

@Module({
  imports: databaseAndLibrary(parent.settings),
  controllers: [WorkController, StepsController, OperatorController],
  providers: [Work],
})
class ServerModule {}

// The tests' own way to make one imports Jest, which is not there in a process of its own.
const adapter = parent.settings.adapter === 'express' ? new ExpressAdapter() : new FastifyAdapter();
const app = await NestFactory.create(ServerModule, adapter);
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
parent.tell({ type: 'listening', url: await app.getUrl() });
