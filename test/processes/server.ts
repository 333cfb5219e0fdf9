import {
  Idempotent,
  IdempotencyContext,
  IdempotencyModule,
  IdempotencyRecord,
  type IdempotencyMode,
  type IdempotentContext,
} from '@exactly-once/nestjs';
import { Body, Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { Gate } from '../support/gate.js';
import { SETTINGS, type ServerCommand, type ServerMessage, type ServerSettings } from './settings.js';

const settings = JSON.parse(process.env[SETTINGS]!) as ServerSettings;
const gate = new Gate();
const tell = (message: ServerMessage): void => void process.send!(message);

interface WorkBody {
  /** Stop in the middle, until the parent lets go. */
  hold?: boolean;
  /** Keep the event loop busy for as many milliseconds. */
  block?: number;
}

@Controller()
class WorkController {
  constructor(@InjectRepository(Effect) private readonly effects: Repository<Effect>) {}

  @Post('transaction')
  @Idempotent({ mode: 'transaction' })
  inTransaction(@Body() body: WorkBody, @IdempotencyContext() context: IdempotentContext) {
    return this.work(body, context);
  }

  @Post('lease')
  @Idempotent({ mode: 'lease', onAbandoned: 'fail' })
  underLease(@Body() body: WorkBody, @IdempotencyContext() context: IdempotentContext) {
    return this.work(body, context);
  }

  @Post('retried-lease')
  @Idempotent({ mode: 'lease', onAbandoned: 'retry' })
  underRetriedLease(@Body() body: WorkBody, @IdempotencyContext() context: IdempotentContext) {
    return this.work(body, context);
  }

  @Post('steps')
  @Idempotent({ mode: 'lease', onAbandoned: 'retry' })
  async inSteps(@Body() body: WorkBody, @IdempotencyContext() context: IdempotentContext) {
    const charge = await context.step('charge', () => this.save('charge'));
    await this.pause(body);
    return { charge, order: await context.transactionalStep('order', () => this.save('order')) };
  }

  /** Stops inside of a step, with a row of others locked. */
  @Post('in-step')
  @Idempotent({ mode: 'lease', onAbandoned: 'retry' })
  insideStep(@Body() body: WorkBody, @IdempotencyContext() context: IdempotentContext) {
    return context.transactionalStep('reserve', async () => {
      await this.effects.update({ name: 'seat' }, { name: 'seat' });
      await this.pause(body);
      return this.save('reservation');
    });
  }

  private async work(body: WorkBody, { attempt, mode }: { attempt: number; mode: IdempotencyMode }) {
    await this.save('begun');
    await this.pause(body);
    await this.save('done');
    return { by: settings.name, attempt, mode };
  }

  private async pause({ hold, block = 0 }: WorkBody): Promise<void> {
    if (hold) {
      gate.close();
      const passing = gate.pass();
      tell({ type: 'held' });
      await passing;
    }
    const end = performance.now() + block;
    while (performance.now() < end);
  }

  private async save(what: string): Promise<string> {
    const { name } = await this.effects.save({ name: `${what} by ${settings.name}` });
    return name;
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: settings.databaseUrl,
      entities: [IdempotencyRecord, Effect],
      retryAttempts: 0,
    }),
    TypeOrmModule.forFeature([Effect]),
    IdempotencyModule.forRoot({ scope: false, ...settings.options }),
  ],
  controllers: [WorkController],
})
class ServerModule {}

process.on('message', (command: ServerCommand) => {
  if (command === 'let go') gate.open();
});
// Nobody is left to stop this process then.
process.on('disconnect', () => process.exit(1));
// The channel to the parent is no reason to go on.
process.channel!.unref();

const adapter = settings.adapter === 'express' ? new ExpressAdapter() : new FastifyAdapter();
const app = await NestFactory.create(ServerModule, adapter);
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
tell({ type: 'listening', url: await app.getUrl() });
