import type { IdempotentOptions } from '../options/idempotent-options.interface.js';

/** What `@Idempotent()` leaves on a method: its options, and an identity that a wrapper around the method keeps. */
export interface Registration {
  options: IdempotentOptions;
  /** Where it was put, for messages at start-up. */
  readonly controller: Function;
  readonly methodName: string;
}

/** All methods that were ever decorated in this process; an application checks those of its own classes. */
export const registrations: Registration[] = [];
