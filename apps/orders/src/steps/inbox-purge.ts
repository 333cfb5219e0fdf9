import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { toMilliseconds } from '../config/duration.js';
import type { Environment } from '../config/environment.js';
import { InboxEntry } from './inbox-entry.entity.js';

const ONE_HOUR = 3_600_000;

/** Without it the inbox would grow with every order. */
@Injectable()
export class InboxPurge {
  private readonly retention: number;

  constructor(
    config: ConfigService<Environment, true>,
    @InjectRepository(InboxEntry) private readonly entries: Repository<InboxEntry>,
  ) {
    // As long as the record of the request is kept, and as long again, for a process that was stopped meanwhile.
    this.retention = 2 * toMilliseconds(config.get('IDEMPOTENCY_TTL', { infer: true }));
  }

  /** By the clock of the database, which has written the times. An error is logged, and the next hour tries again. */
  @Interval('inbox-purge', ONE_HOUR)
  async purge(): Promise<void> {
    await this.entries
      .createQueryBuilder()
      .delete()
      .where(`created_at < now() - :retention * interval '1 millisecond'`, { retention: this.retention })
      .execute();
  }
}
