import type { Variant } from './variant.js';

/** Handlers without protection. */
export function createVariant(): Variant {
  return { protect: () => undefined };
}
