import { Reflector } from '@nestjs/core';

/** Opens a handler or a controller to requests without a token. */
export const Public = Reflector.createDecorator<void, true>({ transform: () => true });
