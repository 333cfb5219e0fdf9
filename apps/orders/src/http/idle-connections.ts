import type { Server } from 'node:http';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/**
 * Once the application stops, closes each connection as soon as its request is answered. A client that
 * keeps a connection alive for its next request would keep the process alive as long.
 */
@Injectable()
export class IdleConnections implements BeforeApplicationShutdown {
  constructor(private readonly host: HttpAdapterHost) {}

  beforeApplicationShutdown(): void {
    const server: Server = this.host.httpAdapter.getHttpServer();
    if (server.listening) {
      const timer = setInterval(() => server.closeIdleConnections(), 50);
      server.once('close', () => clearInterval(timer));
    }
  }
}
