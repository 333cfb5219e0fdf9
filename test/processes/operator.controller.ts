import { IdempotencyService } from '@exactly-once/nestjs';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';

/** What the process thinks the time is. */
export interface Clock {
  now: number;
  date: string;
}

@Controller()
export class OperatorController {
  constructor(private readonly idempotency: IdempotencyService) {}

  @Get('clock')
  clock(): Clock {
    return { now: Date.now(), date: new Date().toISOString() };
  }

  @Post('purge')
  @HttpCode(200)
  async purge(): Promise<{ removed: number }> {
    return { removed: await this.idempotency.purge() };
  }
}
