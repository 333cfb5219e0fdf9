import type { IncomingMessage } from 'node:http';
import type { ExecutionContext } from '@nestjs/common';

/** The parts of an Express or Fastify request that are read here; Fastify keeps Node's own under `raw`. */
export interface FrameworkRequest {
  readonly raw?: IncomingMessage;
  readonly headers: IncomingMessage['headers'];
  readonly method: string;
  readonly originalUrl?: string;
  readonly url: string;
  readonly body?: unknown;
  readonly params?: unknown;
}

export function rawRequest(request: FrameworkRequest): IncomingMessage {
  return request.raw ?? (request as unknown as IncomingMessage);
}

/** What `switchToHttp()` gives, which makes an object each time to give it. */
export function requestOf(context: ExecutionContext): FrameworkRequest {
  return context.getArgByIndex(0);
}

/** As the framework has it. */
export function responseOf<T extends object>(context: ExecutionContext): T {
  return context.getArgByIndex(1);
}
