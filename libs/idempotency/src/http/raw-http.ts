import type { IncomingMessage } from 'node:http';

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
