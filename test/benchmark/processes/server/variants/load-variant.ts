import type { ServerSettings, VariantName } from '../settings.js';
import type { Variant, VariantFile } from './variant.js';

const FILES: Record<VariantName, string> = {
  bare: './bare.js',
  transaction: './exactly-once.js',
  lease: './exactly-once.js',
  'lease-unbatched': './exactly-once.js',
  'lease-redis': './lease-redis.js',
  recipe: './recipe/recipe.js',
  'node-idempotency': './node-idempotency.js',
};

/** A server loads the file of its own variant and no other. */
export async function loadVariant(settings: ServerSettings): Promise<Variant> {
  const { createVariant } = (await import(FILES[settings.variant])) as VariantFile;
  return createVariant(settings);
}
