import { createParamDecorator } from '@nestjs/common';
import { attemptScope } from '../engine/attempt-scope.js';

/**
 * The {@link IdempotentContext} of the request; `undefined` where it has no key and needs none.
 *
 * @publicApi
 */
export const IdempotencyContext = createParamDecorator(() => attemptScope.getStore()?.attempt.context);
