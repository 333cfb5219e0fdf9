import { IdempotencyStore } from '@exactly-once/nestjs';
import { Controller, Get, Inject, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  HealthCheck,
  type HealthCheckResult,
  HealthCheckService,
  type HealthIndicatorResult,
  HealthIndicatorService,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import { Public } from '../auth/public.decorator.js';

/** Milliseconds. */
const TIME_LIMIT = 1_000;

const NO_RECORD = Buffer.alloc(32);

@ApiTags('health')
@Public()
@Controller({ path: 'health', version: VERSION_NEUTRAL })
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
    private readonly indicators: HealthIndicatorService,
    @Inject(IdempotencyStore) private readonly store: IdempotencyStore,
  ) {}

  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([() => this.database.pingCheck('database'), () => this.checkRecords()]);
  }

  /** Without them every POST is answered 503, wherever they are. */
  private async checkRecords(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('idempotency');
    return this.store.find(NO_RECORD, TIME_LIMIT).then(
      () => indicator.up(),
      (error: Error) => indicator.down(error.message),
    );
  }
}
