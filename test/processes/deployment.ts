import { IdempotencyService, type IdempotencyRecord } from '@exactly-once/nestjs';
import { expect } from '@jest/globals';

import type { AdapterName } from '../support/adapters.js';
import { eventually } from '../support/eventually.js';
import { startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { ServerProcess, type WorkRequest } from './server-process.js';
import type { ServerSettings } from './settings.js';

export interface ServerOptions {
  options?: ServerSettings['options'];
  clockOffset?: number;
}

/** One application that runs as several processes, which share a database. */
export class Deployment {
  private readonly servers = new Map<string, ServerProcess>();

  private constructor(
    private readonly adapter: AdapterName,
    /** Has the database; takes no requests. */
    readonly observer: IdempotentApp,
    private readonly options: ServerSettings['options'],
  ) {}

  /** @param options of each of its servers */
  static async create(adapter: AdapterName, options: ServerSettings['options']): Promise<Deployment> {
    // A purge in the background would remove what a test has just let expire.
    const observer = await startIdempotentApp({ adapter, options: { purge: false } });
    return new Deployment(adapter, observer, { purge: false, ...options });
  }

  async start(name: string, { options, clockOffset }: ServerOptions = {}): Promise<ServerProcess> {
    const settings = {
      name,
      adapter: this.adapter,
      databaseUrl: this.observer.database.url,
      options: { ...this.options, ...options },
    };
    const server = await ServerProcess.start(settings, clockOffset);
    this.servers.set(name, server);
    return server;
  }

  /** Ends a server, if there is one of this name. */
  async kill(name: string): Promise<void> {
    await this.servers.get(name)?.child.kill();
    this.servers.delete(name);
  }

  /** Names of the effects of all processes, the oldest first. */
  async effects(): Promise<string[]> {
    const effects = await this.observer.effects.find({ order: { id: 'ASC' } });
    return effects.map(({ name }) => name);
  }

  record({ key }: Pick<WorkRequest, 'key'>): Promise<IdempotencyRecord> {
    return this.observer.records.findOneByOrFail({ key });
  }

  /** Resolves when the database's clock says so. */
  leaseHasLapsed(request: WorkRequest): Promise<void> {
    return this.stateBecomes('abandoned', request);
  }

  retentionHasEnded(request: WorkRequest): Promise<void> {
    return this.stateBecomes('expired', request);
  }

  async clear(): Promise<void> {
    await Promise.all([this.observer.effects.clear(), this.observer.records.clear()]);
  }

  async close(): Promise<void> {
    await Promise.all([...this.servers.keys()].map((name) => this.kill(name)));
    await this.observer.close();
  }

  private stateBecomes(state: string, { key, path }: WorkRequest): Promise<void> {
    const target = { scope: null, operation: `POST ${path}`, key };
    const service = this.observer.app.get(IdempotencyService);
    return eventually(async () => expect(await service.find(target)).toMatchObject({ state }), 15_000);
  }
}
