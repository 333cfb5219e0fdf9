import { Injectable } from '@nestjs/common';
import { attemptScope } from './engine/attempt-scope.js';
import type { IdempotentContext } from './engine/idempotent-context.js';
import { PurgeService } from './maintenance/purge.service.js';

/** What services and operators can ask of the library. @publicApi */
@Injectable()
export class IdempotencyService {
  constructor(private readonly purgeService: PurgeService) {}

  /** The attempt that the running code belongs to; `undefined` outside an idempotent request. */
  get context(): IdempotentContext | undefined {
    return attemptScope.getStore()?.attempt.context;
  }

  /**
   * Removes expired records, in batches, as the background purge does.
   *
   * @returns how many were removed
   */
  purge(): Promise<number> {
    return this.purgeService.purge();
  }
}
