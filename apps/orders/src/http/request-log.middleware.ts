import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';

const logger = new Logger('Http');

/** Gives each request an id, for the client in `X-Request-Id` and for one line in the log. */
export function requestLog(
  request: IncomingMessage & { originalUrl?: string },
  response: ServerResponse,
  next: () => void,
): void {
  const startedAt = performance.now();
  const requestId = randomUUID();
  response.setHeader('X-Request-Id', requestId);
  response.once('close', () => {
    logger.log('Request', {
      event: 'http.request',
      requestId,
      method: request.method,
      path: (request.originalUrl ?? request.url)?.split('?')[0],
      status: response.statusCode,
      completed: response.writableFinished,
      replayed: response.getHeader('Idempotent-Replayed') === 'true',
      milliseconds: Math.round(performance.now() - startedAt),
    });
  });
  next();
}
