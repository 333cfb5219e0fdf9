/** The request header that carries the key, unless the `header` option names another. Source: draft-ietf-httpapi-idempotency-key-header-07. */
export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';

/** The response header that marks a replayed answer; its value is `true`. */
export const IDEMPOTENT_REPLAYED_HEADER = 'Idempotent-Replayed';

/** Injection token of the options as the application gave them. @internal */
export const IDEMPOTENCY_MODULE_OPTIONS = Symbol('IDEMPOTENCY_MODULE_OPTIONS');

/** Injection token of the `Repository<IdempotencyRecord>` on the configured DataSource. @internal */
export const IDEMPOTENCY_REPOSITORY = Symbol('IDEMPOTENCY_REPOSITORY');

/** Metadata key under which `@Idempotent()` leaves its registration on a method or class. @internal */
export const IDEMPOTENT_METADATA = Symbol('exactly-once:idempotent');

/** Injection token of the options, validated and with their defaults. @internal */
export const IDEMPOTENCY_RESOLVED_OPTIONS = Symbol('IDEMPOTENCY_RESOLVED_OPTIONS');
