import { Idempotent, IdempotencyContext, type IdempotentContext } from '@exactly-once/nestjs';
import { Body, Controller, Post } from '@nestjs/common';

import { Work, type WorkBody } from './work.js';

/** Handlers in steps, which stop between two of them or inside of one. */
@Controller()
export class StepsController {
  constructor(private readonly work: Work) {}

  @Post('steps')
  @Idempotent({ mode: 'lease', onAbandoned: 'retry' })
  async betweenSteps(@Body() body: WorkBody, @IdempotencyContext() context: IdempotentContext) {
    const charge = await context.step('charge', () => this.work.save('charge'));
    await this.work.pause(body, context);
    return { charge, order: await context.transactionalStep('order', () => this.work.save('order')) };
  }

  /** Stops after the effect of a step and before its record. */
  @Post('in-charge')
  @Idempotent({ mode: 'lease', onAbandoned: 'retry' })
  async insideCharge(@Body() body: WorkBody, @IdempotencyContext() context: IdempotentContext) {
    const charge = await context.step('charge', async () => {
      const name = await this.work.save('charge');
      await this.work.pause(body, context);
      return name;
    });
    return { charge, order: await this.work.save('order') };
  }

  /** Stops inside of a step with its transaction open, which has a row of its own, and the seat locked. */
  @Post('in-step')
  @Idempotent({ mode: 'lease', onAbandoned: 'retry' })
  insideStep(@Body() body: WorkBody, @IdempotencyContext() context: IdempotentContext) {
    return context.transactionalStep('reserve', async () => {
      await this.work.lockSeat();
      const name = await this.work.save('reservation');
      await this.work.pause(body, context);
      return name;
    });
  }
}
