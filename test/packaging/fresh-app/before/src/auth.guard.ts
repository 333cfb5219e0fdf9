import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import type { Request } from 'express';

@Injectable()
export class AuthGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request & { user?: { id: string } }>();
    const id = /^Bearer token-of-(\w+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (!id) throw new UnauthorizedException();
    request.user = { id };
    return true;
  }
}
