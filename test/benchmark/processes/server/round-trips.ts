import pg from 'pg';

/** Queries that this process has sent to Postgres. */
export const roundTrips = { count: 0 };

/** A counter and nothing else, since it is in every measured server that has a database. */
export function countRoundTrips(): void {
  const prototype = pg.Client.prototype as { query: (...values: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function (this: unknown, ...values) {
    roundTrips.count += 1;
    return query.apply(this, values);
  };
}
