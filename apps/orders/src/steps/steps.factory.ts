import type { IdempotentContext } from '@exactly-once/nestjs';
import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Environment } from '../config/environment.js';
import { Inbox } from './inbox.js';
import type { Steps } from './steps.interface.js';

@Injectable()
export class StepsFactory {
  private readonly recordsAreInDatabase: boolean;

  constructor(
    config: ConfigService<Environment, true>,
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly inbox: Inbox,
  ) {
    this.recordsAreInDatabase = config.get('IDEMPOTENCY_STORE', { infer: true }) === 'postgres';
  }

  /** @param subject what the client's key stands for, without regard to how its request spelled it */
  of(context: IdempotentContext, subject: string): Steps {
    return {
      step: (name, work) => context.step(name, work),
      transactionalStep: this.recordsAreInDatabase
        ? // All that goes through the DataSource in it joins one transaction with the record.
          (name, work) => context.transactionalStep(name, () => work(this.dataSource.manager))
        : // A crash after the commit, or a stall, repeats the step: then the inbox knows its key.
          (name, work) => context.step(name, (stepKey) => this.inbox.once(stepKey, subject, work)),
    };
  }
}
