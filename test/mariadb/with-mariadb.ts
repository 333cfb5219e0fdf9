import { describeWith } from '../support/describe-with.js';
import { mariaDbVersion } from './mariadb-server.js';

/** A suite that needs `mariadbd`. */
export function describeWithMariaDb(title: string, body: () => void): void {
  const isThere = mariaDbVersion() !== undefined;
  describeWith(
    { name: 'mariadbd', isThere, package: 'mariadb-server', required: 'REQUIRE_MARIADB' },
    title,
    body,
  );
}
