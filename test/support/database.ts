import { randomBytes } from 'node:crypto';

import { Client } from 'pg';

import { libraryTemplate, type DatabaseTemplate } from './database-templates.js';
import { databasePrefix, RUN_ID, SERVER_URL } from './test-run.js';

export interface TestDatabase {
  url: string;
  name: string;
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** What the database contains at the beginning. @default libraryTemplate */
  template?: DatabaseTemplate;
}

/** A database for one spec file. It is a copy of the template, which the first caller of a run makes. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { template = libraryTemplate } = options;
  const name = `${prefix()}${randomBytes(4).toString('hex')}`;
  await withServer(async (client) => {
    const original = await ensureTemplate(client, template);
    await client.query(`CREATE DATABASE "${name}" TEMPLATE "${original}"`);
  });
  return {
    url: urlOf(name),
    name,
    drop: () =>
      withServer(
        async (client) => void (await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`)),
      ),
  };
}

/**
 * Test files run in several processes, so a lock on the server decides who makes the template. It gets its
 * name when it is complete.
 */
async function ensureTemplate(client: Client, template: DatabaseTemplate): Promise<string> {
  const name = `${prefix()}template_${template.name}`;
  await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 1) return name;
    const unfinished = `${name}_unfinished`;
    await client.query(`DROP DATABASE IF EXISTS "${unfinished}" WITH (FORCE)`);
    await client.query(`CREATE DATABASE "${unfinished}"`);
    await template.prepare(urlOf(unfinished));
    await client.query(`ALTER DATABASE "${unfinished}" RENAME TO "${name}"`);
    return name;
  } finally {
    await client.query('SELECT pg_advisory_unlock(hashtext($1))', [name]);
  }
}

async function withServer<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function serverUrl(): string {
  return process.env[SERVER_URL]!;
}

function prefix(): string {
  return databasePrefix(process.env[RUN_ID]!);
}

function urlOf(database: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${database}`;
  return url.href;
}
