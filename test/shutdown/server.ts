import { Idempotent } from '@exactly-once/nestjs';
import { Body, Controller, Module, Post, type OnApplicationShutdown } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { InjectRepository } from '@nestjs/typeorm';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Repository } from 'typeorm';

import { databaseAndLibrary } from '../processes/database-module.js';
import { Parent } from '../processes/parent.js';
import type { ServerSettings } from '../processes/settings.js';
import { Effect } from '../support/effect.entity.js';
import type { ServerCommand, ServerMessage, Work } from './settings.js';

const parent = new Parent<ServerSettings, ServerMessage, ServerCommand>(() => void app.close());
const { settings } = parent;

@Controller()
class WorkController {
  constructor(@InjectRepository(Effect) private readonly effects: Repository<Effect>) {}

  @Post('transaction')
  @Idempotent({ mode: 'transaction' })
  inTransaction(@Body() work: Work) {
    return this.work(work);
  }

  @Post('lease')
  @Idempotent({ mode: 'lease', lockTtl: '3s', onAbandoned: 'fail' })
  underLease(@Body() work: Work) {
    return this.work(work);
  }

  /** No two executions have the same answer. */
  private async work({ intent, pause, stuckOn }: Work) {
    await this.effects.save({ name: intent });
    parent.tell({ type: 'begun', intent });
    await (stuckOn === settings.name ? new Promise(() => undefined) : sleep(pause));
    return { by: settings.name, receipt: `№ ${randomUUID()}` };
  }
}

@Module({ imports: databaseAndLibrary(settings), controllers: [WorkController] })
class ServerModule implements OnApplicationShutdown {
  onApplicationShutdown(): void {
    parent.tell({ type: 'closed' });
  }
}

// Not by `createAdapter()` of the tests, whose file imports Jest.
const adapter = settings.adapter === 'express' ? new ExpressAdapter() : new FastifyAdapter();
const app = await NestFactory.create(ServerModule, adapter, { logger: ['warn', 'error', 'fatal'] });
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
parent.tell({ type: 'listening', url: await app.getUrl() });
