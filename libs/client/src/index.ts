export { deriveKey } from './derive-key.js';
export { idempotentFetch, type IdempotentResponse } from './idempotent-fetch.js';
export { IdempotentFetchError } from './idempotent-fetch.error.js';
export { createIntent, type Intent, type IntentOptions, type IntentStorage } from './intent.js';
export type { AttemptReport, IdempotentFetchOptions, KeyStyle } from './options.js';
