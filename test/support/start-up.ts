import { IdempotencyConfigurationError } from '@exactly-once/nestjs';
import { expect } from '@jest/globals';

import { startIdempotentApp, type IdempotentAppOptions } from './idempotent-app.js';

/** The message with which the library stops the start of an app. */
export async function startUpFailure(options: IdempotentAppOptions): Promise<string> {
  let error: unknown;
  try {
    // Where the options stop the start, TypeORM is left at work: it must not change tables beside the next app.
    const dataSource = { synchronize: false, ...options.dataSource };
    const app = await startIdempotentApp({ ...options, dataSource });
    await app.close();
  } catch (cause) {
    error = cause;
  }
  expect(error).toBeInstanceOf(IdempotencyConfigurationError);
  return (error as Error).message;
}
