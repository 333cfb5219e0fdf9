import { Inject, Injectable, Logger } from '@nestjs/common';
import { attemptScope } from './engine/attempt-scope.js';
import { canonicalJson } from './engine/canonical-json.js';
import { hashParts } from './engine/hashing.js';
import { IdempotencyEngine } from './engine/idempotency-engine.js';
import type { IdempotentContext } from './engine/idempotent-context.js';
import { recordId, type RecordIdentity } from './engine/record-id.js';
import { runOnce, type Work } from './engine/run-once.js';
import { IdempotencyConfigurationError } from './errors/idempotency-configuration.error.js';
import { IdempotencyReleaseRefusedError } from './errors/run.errors.js';
import { IdempotencyScopeUnresolvedError } from './errors/service.errors.js';
import { checkKey } from './http/key-syntax.js';
import { numberParameters } from './http/request-operation.js';
import { isPrincipal } from './http/request-scope.js';
import { IDEMPOTENCY_RESOLVED_OPTIONS } from './idempotency.constants.js';
import { PurgeService } from './maintenance/purge.service.js';
import { describe } from './options/duration.js';
import type { IdempotentOptions } from './options/idempotent-options.interface.js';
import { type ResolvedModuleOptions, resolveHandlerOptions } from './options/resolve-module-options.js';
import { IdempotencyStore, type RecordInspection } from './store/idempotency-store.interface.js';
import { keepTimeLimits } from './store/keep-time-limits.js';

/** Names a record. @publicApi */
export interface IdempotencyTarget {
  /** As the `scope` option gave it; `null` where that is `false`. */
  scope: string | number | null;
  /** Method and route template, such as `POST /orders/:id/pay`, or the name of the operation. */
  operation: string;
  key: string;
}

/** What `run()` needs to know of the work. @publicApi */
export interface IdempotencyRunRequest extends IdempotencyTarget {
  /** What a repetition must have in common with the first call: any JSON value. @default nothing but the key */
  fingerprint?: unknown;
}

/** The options that have a meaning outside HTTP. @publicApi */
export type IdempotencyRunOptions = Pick<
  IdempotentOptions,
  | 'mode'
  | 'ttl'
  | 'lockTtl'
  | 'inFlight'
  | 'onAbandoned'
  | 'onStoreError'
  | 'storeIf'
  | 'maxResponseBytes'
  | 'storeTimeout'
  | 'transactionTimeout'
  | 'isolation'
>;

/** What services and operators can ask of the library. @publicApi */
@Injectable()
export class IdempotencyService {
  private readonly logger = new Logger('Idempotency');
  private readonly store: IdempotencyStore;

  constructor(
    private readonly engine: IdempotencyEngine,
    @Inject(IdempotencyStore) store: IdempotencyStore,
    private readonly purgeService: PurgeService,
    @Inject(IDEMPOTENCY_RESOLVED_OPTIONS) private readonly options: ResolvedModuleOptions,
  ) {
    this.store = keepTimeLimits(store);
  }

  /** The attempt that the running code belongs to; `undefined` outside an idempotent request. */
  get context(): IdempotentContext | undefined {
    return attemptScope.getStore()?.attempt.context;
  }

  /**
   * Executes `work` once per key, for code outside HTTP such as message consumers and jobs, with the same modes and
   * errors as a handler. Its value is JSON, and every later call gets the first one's.
   *
   * @throws what `work` throws; IdempotencyKeyInUseError while another call executes; the other errors of the library
   * @example
   * await idempotency.run(
   *   { scope: 'invoices', operation: 'invoice-paid', key: message.id, fingerprint: message.body },
   *   async () => this.invoices.markPaid(message.body.invoiceId),
   * );
   */
  async run<T>(
    request: IdempotencyRunRequest,
    work: Work<T>,
    options: IdempotencyRunOptions = {},
  ): Promise<T> {
    const identity = { ...identityOf(request), key: checkKey(request.key) };
    const fingerprint = hashParts('run/1', [canonicalJson(request.fingerprint)]);
    const resolved = resolveHandlerOptions(this.options, options);
    return runOnce(this.engine, { id: recordId(identity), ...identity, fingerprint }, resolved, work);
  }

  /** State, attempt and times of a record; `undefined` where there is none. */
  find(target: IdempotencyTarget): Promise<RecordInspection | undefined> {
    return this.store.inspect(recordId(identityOf(target)), this.storeTimeout);
  }

  /**
   * Frees the record of an attempt that died, so that the next request with its key executes. For operators who
   * have looked at what the attempt did. It is logged.
   *
   * @param by who decides, for the log
   * @throws IdempotencyReleaseRefusedError for a record that is live or completed, or absent
   */
  async release(target: IdempotencyTarget, by: string): Promise<void> {
    const identity = identityOf(target);
    const id = recordId(identity);
    if (!(await this.store.releaseAbandoned(id, this.storeTimeout))) {
      const record = await this.store.inspect(id, this.storeTimeout);
      throw new IdempotencyReleaseRefusedError(record?.state);
    }
    const { scope, operation, key } = identity;
    this.logger.warn(`${by} released the abandoned record of ${operation}, scope ${scope}, key ${key}.`);
  }

  /**
   * Removes expired records, in batches, as the background purge does.
   *
   * @returns how many were removed
   */
  purge(): Promise<number> {
    return this.purgeService.purge();
  }

  private get storeTimeout(): number {
    return resolveHandlerOptions(this.options).storeTimeout;
  }
}

/**
 * @throws IdempotencyScopeUnresolvedError unless the scope names somebody, or is `null` on purpose
 * @throws IdempotencyConfigurationError without an operation
 */
function identityOf({ scope, operation, key }: IdempotencyTarget): RecordIdentity {
  if (typeof operation !== 'string' || operation === '') {
    throw new IdempotencyConfigurationError(
      `The operation is ${describe(operation)}. Name it with a text, such as 'invoice-paid' or 'POST /orders'.`,
    );
  }
  if (scope !== null && !isPrincipal(scope)) {
    throw new IdempotencyScopeUnresolvedError();
  }
  const isRoute = /^[A-Z]+ \//.test(operation);
  return {
    scope: scope === null ? null : String(scope),
    operation: isRoute ? numberParameters(operation) : operation,
    key,
  };
}
