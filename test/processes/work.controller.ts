import {
  Idempotent,
  IdempotencyContext,
  type IdempotencyMode,
  type IdempotentContext,
} from '@exactly-once/nestjs';
import { Body, Controller, Post } from '@nestjs/common';

import { Work, type WorkBody } from './work.js';

/** Handlers that stop between two effects. */
@Controller()
export class WorkController {
  constructor(private readonly work: Work) {}

  @Post('transaction')
  @Idempotent({ mode: 'transaction' })
  inTransaction(@Body() body: WorkBody, @IdempotencyContext() context: IdempotentContext) {
    return this.run(body, context);
  }

  @Post('lease')
  @Idempotent({ mode: 'lease', onAbandoned: 'fail' })
  underLease(@Body() body: WorkBody, @IdempotencyContext() context: IdempotentContext) {
    return this.run(body, context);
  }

  @Post('retried-lease')
  @Idempotent({ mode: 'lease', onAbandoned: 'retry' })
  underRetriedLease(@Body() body: WorkBody, @IdempotencyContext() context: IdempotentContext) {
    return this.run(body, context);
  }

  private async run(
    body: WorkBody,
    context: IdempotentContext,
  ): Promise<{ by: string; attempt: number; mode: IdempotencyMode }> {
    await this.work.save('begun');
    await this.work.pause(body, context);
    await this.work.save('done');
    return { by: this.work.name, attempt: context.attempt, mode: context.mode };
  }
}
