import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';

interface AuthenticatedRequest {
  headers: { authorization?: string };
  user?: { id: string };
}

/** Stands for the guard that your application has: what matters is that it sets `request.user`. */
@Injectable()
export class AuthGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const id = /^Bearer token-of-(\w+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (!id) {
      throw new UnauthorizedException();
    }
    request.user = { id };
    return true;
  }
}
