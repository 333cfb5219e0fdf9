import { rewriteSql } from './rewrite-sql.mjs';

/**
 * A lease that protects only against those who ask while it is live: whoever comes after its end takes the
 * record over, also where `onAbandoned` is 'fail', and every owner may write to it.
 */
rewriteSql((sql) =>
  sql.replaceAll(/ AND "owner" = \$2/g, ' AND $2::uuid IS NOT NULL').replace(' AND t."owner" = d.owner', ''),
);

const store = new URL('../../../libs/idempotency/dist/typeorm/postgres-lease.store.js', import.meta.url);
const { PostgresLeaseStore } = await import(store.href);
const { claim } = PostgresLeaseStore.prototype;
PostgresLeaseStore.prototype.claim = function (request) {
  return claim.call(this, { ...request, takeOverAbandoned: true });
};
