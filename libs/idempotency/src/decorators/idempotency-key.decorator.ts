import { createParamDecorator } from '@nestjs/common';
import { attemptScope } from '../engine/attempt-scope.js';

/**
 * The key of the request in canonical form; `undefined` where it has none and needs none.
 *
 * @publicApi
 */
export const IdempotencyKey = createParamDecorator(() => attemptScope.getStore()?.attempt.context.key);
