import { DataSource, type DataSourceOptions } from 'typeorm';
import { StartupError } from '../config/startup-error.js';

/**
 * Opens the connection, or fails at once.
 *
 * @throws StartupError that says in one line which database could not be reached and why, without its password
 */
export async function connect(options: DataSourceOptions): Promise<DataSource> {
  try {
    return await new DataSource(options).initialize();
  } catch (error) {
    throw new StartupError(
      `The database ${describe(options)} cannot be used: ${reason(error)}. ` +
        'Start Postgres, or set DATABASE_URL to a database that exists.',
      { cause: error },
    );
  }
}

function describe(options: DataSourceOptions): string {
  if (!('url' in options) || !options.url || !URL.canParse(options.url)) {
    return 'of DATABASE_URL';
  }
  const { host, pathname } = new URL(options.url);
  return `${pathname.slice(1)} at ${host}`;
}

/** A refused connection to a name with several addresses is an AggregateError without a message. */
function reason(error: unknown): string {
  if (error instanceof AggregateError) {
    return error.errors.map(reason).join(', ');
  }
  return error instanceof Error ? error.message : String(error);
}
