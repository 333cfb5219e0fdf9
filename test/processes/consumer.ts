import {
  IdempotencyError,
  IdempotencyService,
  type IdempotencyRunRequest,
  type IdempotentContext,
} from '@exactly-once/nestjs';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { databaseAndLibrary } from './database-module.js';
import { Parent } from './parent.js';
import type { ConsumerCommand, ConsumerMessage, Delivery, ProcessSettings } from './settings.js';

const parent = new Parent<ProcessSettings, ConsumerMessage, Exclude<ConsumerCommand, string>>(
  ({ deliver }) => void app.get(Consumer).receive(deliver),
);

/** Works each message off in two steps, and stands still between them. */
@Injectable()
class Consumer {
  constructor(
    private readonly idempotency: IdempotencyService,
    @InjectRepository(Effect) private readonly effects: Repository<Effect>,
  ) {}

  async receive(delivery: Delivery): Promise<void> {
    const request: IdempotencyRunRequest = { scope: 'billing', operation: 'invoice-paid', key: delivery.key };
    try {
      const value = await this.idempotency.run(request, (context) => this.work(context));
      parent.tell({ type: 'acknowledged', delivery, value });
    } catch (error) {
      const after = error instanceof IdempotencyError ? error.retryAfter : undefined;
      parent.tell(
        after === undefined
          ? { type: 'set aside', delivery, reason: String(error) }
          : { type: 'put off', delivery, after, code: (error as IdempotencyError).code },
      );
    }
  }

  private async work(context: IdempotentContext): Promise<{ charge: string; order: string }> {
    const charge = await context.step('charge', () => this.save('charge'));
    await parent.standStill({ type: 'held', attempt: context.attempt });
    return { charge, order: await context.transactionalStep('order', () => this.save('order')) };
  }

  private async save(what: string): Promise<string> {
    return (await this.effects.save({ name: `${what} by ${parent.settings.name}` })).name;
  }
}

@Module({ imports: databaseAndLibrary(parent.settings), providers: [Consumer] })
class ConsumerModule {}

const app = await NestFactory.createApplicationContext(ConsumerModule);
parent.tell({ type: 'ready' });
