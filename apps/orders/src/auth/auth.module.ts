import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { BearerTokenGuard } from './bearer-token.guard.js';

/** Every route needs a token, unless it is marked `@Public()`. */
@Module({ providers: [{ provide: APP_GUARD, useClass: BearerTokenGuard }] })
export class AuthModule {}
