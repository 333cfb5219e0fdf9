import { openDatabase, type Database } from './database.js';
import { greeting } from './greeting.js';
import { Playground } from '../playground/playground.js';
import { migrate } from './migrate.js';
import { OrdersApp } from './orders-app.js';
import { choosePort, firstFreePort } from './port.js';
import { probeRedis } from './redis.js';
import type { Settings } from './settings.js';

const PLAYGROUND_PORT = 3200;

/** Database → migrations → app → playground; and back in the opposite order. */
export class Launcher {
  private readonly stopping = new AbortController();
  private app?: OrdersApp;
  private playground?: Playground;

  constructor(private readonly settings: Settings) {}

  /**
   * Ends when everything that it has started is down.
   *
   * @throws StartError when something that the user can change is in the way.
   */
  async run(): Promise<void> {
    // First, since these need no database, and the answer should be there at once.
    if (this.settings.port) await choosePort(this.settings.port);
    if (this.settings.redisUrl) await probeRedis(this.settings.redisUrl);

    let lost: Error | undefined;
    const database = await openDatabase(this.settings.databaseUrl, (cause) => {
      lost = new Error('The embedded Postgres is gone and cannot be started again.', { cause });
      this.stop();
    });
    try {
      await this.runOn(database);
    } finally {
      await database.close();
    }
    if (lost) throw lost;
  }

  /** Asks for a stop, which `run` carries out. */
  stop(): void {
    this.stopping.abort();
  }

  /** Does not wait for the app's requests either. */
  kill(): void {
    this.app?.kill();
  }

  private async runOn(database: Database): Promise<void> {
    const { signal } = this.stopping;
    if (!signal.aborted) await migrate(database.url, signal);
    this.app = new OrdersApp({
      databaseUrl: database.url,
      ...this.settings,
      onFirstReady: (port) =>
        this.openPlayground(port, database.url).then(({ url }) =>
          console.log(greeting(port, url, database, this.settings.redisUrl)),
        ),
    });
    try {
      await this.app.run(signal);
    } finally {
      await this.playground?.close();
    }
  }

  private async openPlayground(port: number, databaseUrl: string): Promise<Playground> {
    // As the app, on any port or on one that stays the same as long as it is free.
    const own = this.settings.port === 0 ? 0 : await firstFreePort(PLAYGROUND_PORT);
    this.playground = await Playground.start(own, {
      url: `http://127.0.0.1:${port}`,
      databaseUrl,
      kill: () => this.kill(),
    });
    return this.playground;
  }
}
