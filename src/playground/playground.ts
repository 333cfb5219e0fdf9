import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Pool } from 'pg';

import { AppProxy, type AppUnderFaults } from './app-proxy.js';
import { readPageFile } from './page-files.js';
import { readShopState } from './shop-state.js';

/** The page on which somebody who evaluates can see what idempotency keys do, beside the app. */
export class Playground {
  private readonly proxy: AppProxy;
  private readonly pool: Pool;

  private constructor(
    private readonly server: Server,
    app: AppUnderFaults,
  ) {
    this.proxy = new AppProxy(app);
    this.pool = new Pool({ connectionString: app.databaseUrl, max: 2, application_name: 'playground' });
    // A Postgres that goes away is noticed by the next query.
    this.pool.on('error', () => undefined);
    server.on('request', (request, response) => {
      // Whatever is sent here, the app next door goes on.
      this.answer(request, response).catch(() => response.destroy());
    });
  }

  /** For this machine alone: it can kill the app. */
  static async start(port: number, app: AppUnderFaults): Promise<Playground> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new Playground(server, app);
  }

  get url(): string {
    return `http://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await Promise.all([once(this.server, 'close'), this.pool.end()]);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '/'] = request.url!.split('?');
    if (!this.isMeant(request)) {
      return give(response, 403, 'text/plain', 'Open this page as http://localhost.');
    }
    if (path.startsWith('/v1/')) {
      return this.proxy.handle(request, response);
    }
    if (path === '/state') {
      return this.answerState(response);
    }
    const file = await readPageFile(path);
    if (!file) {
      return give(response, 404, 'text/plain', 'There is no such page.');
    }
    give(response, 200, file.type, file.content, file.headers);
  }

  /** Pages from elsewhere must not kill the app, by whatever name they call this server. */
  private isMeant({ headers }: IncomingMessage): boolean {
    const { port } = new URL(this.url);
    const own = [`localhost:${port}`, `127.0.0.1:${port}`];
    const { host, origin } = headers;
    return own.includes(host ?? '') && (origin === undefined || own.includes(origin.replace('http://', '')));
  }

  private async answerState(response: ServerResponse): Promise<void> {
    try {
      const state = await readShopState(this.pool);
      give(response, 200, 'application/json', JSON.stringify(state));
    } catch (error) {
      give(response, 503, 'text/plain', `The database cannot be read: ${(error as Error).message}.`);
    }
  }
}

function give(
  response: ServerResponse,
  status: number,
  type: string,
  content: string | Buffer,
  headers: Record<string, string> = {},
): void {
  response
    .writeHead(status, {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      ...headers,
    })
    .end(content);
}
