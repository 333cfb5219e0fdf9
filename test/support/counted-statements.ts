import type { IdempotencyMode } from '@exactly-once/nestjs';
import pg from 'pg';

import type { AdapterName } from './adapters.js';
import type { TestDatabase } from './database.js';
import { startScriptedApp, type ScriptedApp } from './scripted-app.js';

export interface CountedStatements {
  /** Of each message that was sent, in order: the round trips. */
  readonly texts: string[];
  stop(): void;
}

/** Notes what every client of this process sends, until it is stopped. */
export function countStatements(): CountedStatements {
  const { query } = pg.Client.prototype;
  const texts: string[] = [];
  pg.Client.prototype.query = function (this: pg.Client, ...args: any[]) {
    texts.push(typeof args[0] === 'string' ? args[0] : args[0].text);
    return (query as Function).apply(this, args);
  } as typeof query;
  return { texts, stop: () => void (pg.Client.prototype.query = query) };
}

/** An app in which nothing but its requests sends statements, and these are shared. */
export function startCountedApp(
  adapter: AdapterName,
  mode: IdempotencyMode,
  database?: TestDatabase,
): Promise<ScriptedApp> {
  return startScriptedApp({
    adapter,
    ...(database && { database }),
    handler: { mode },
    options: { purge: false, batching: true },
  });
}
