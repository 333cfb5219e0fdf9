import { rewriteSql } from './rewrite-sql.mjs';

/**
 * A store without a unique key and without locks, as it is often written: it looks whether there is a record,
 * and then inserts one. The table's constraint is dropped by the harness.
 */
rewriteSql((sql) =>
  sql
    .replaceAll(/pg_try_advisory_xact_lock\('[^)]*\)/g, 'true')
    .replace(' ON CONFLICT ("id") DO NOTHING', ''),
);
