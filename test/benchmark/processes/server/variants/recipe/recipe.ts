import { UseInterceptors } from '@nestjs/common';

import type { Variant } from '../variant.js';
import { IdempotencyKey } from './idempotency-key.entity.js';
import { RecipeInterceptor } from './recipe.interceptor.js';

/** What a team writes itself: an interceptor that claims by one statement of TypeORM and completes by another. */
export function createVariant(): Variant {
  return { protect: UseInterceptors(RecipeInterceptor), entities: [IdempotencyKey] };
}
