import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Reply } from '../http/reply.js';
import { DEMO_USERS } from './demo-users.js';
import { Public } from './public.decorator.js';
import type { User } from './user.js';

interface RequestWithUser {
  headers: { authorization?: string };
  user?: User;
}

/** Sets `request.user` from the bearer token; answers 401 without a valid one. */
@Injectable()
export class BearerTokenGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.reflector.getAllAndOverride(Public, [context.getHandler(), context.getClass()])) {
      return true;
    }
    const request = context.switchToHttp().getRequest<RequestWithUser>();
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    request.user = token === undefined ? undefined : DEMO_USERS.get(token);
    if (!request.user) {
      context.switchToHttp().getResponse<Reply>().header('WWW-Authenticate', 'Bearer');
      throw new UnauthorizedException('Send a valid token: "Authorization: Bearer <token>".');
    }
    return true;
  }
}
