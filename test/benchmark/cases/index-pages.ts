import type { Client } from 'pg';

import { type Contestant, RECORDS } from '../rig/contestant.js';
import type { BenchmarkDatabase } from '../rig/database.js';
import type { Rig } from '../rig/rig.js';
import { median } from '../report/statistics.js';

/** Pages that one descent of an index may touch more in the larger table. */
const MOST_MORE = 2;

/** Statements that are explained; a page that is just being split counts for more than is usual. */
const TRIES = 25;

interface Statement {
  name: string;
  /** How many times an index is descended. */
  descents: number;
  sql(columns: string): string;
}

/** Those of the library for one key, as far as pages are concerned. $1 is the number of a copy. */
const STATEMENTS: readonly Statement[] = [
  {
    name: 'a look-up',
    descents: 1,
    sql: () => `SELECT * FROM ${RECORDS} WHERE id = sha256(convert_to('copy ' || $1::int, 'UTF8'))`,
  },
  {
    // To the primary key it goes once to look for a conflict, and once to insert.
    name: 'a claim',
    descents: 3,
    sql: (columns) =>
      `INSERT INTO ${RECORDS} (${columns}) SELECT ${columns.replace(/\bid\b/, `sha256(convert_to('new ' || $1::int, 'UTF8'))`)}
       FROM model ON CONFLICT (id) DO NOTHING`,
  },
];

/** How many more pages the statements touch in the larger table, as EXPLAIN (ANALYZE, BUFFERS) counts them. */
export async function provePages({ proofs }: Rig, few: Contestant, many: Contestant): Promise<void> {
  for (const statement of STATEMENTS) {
    const inFew = await pagesOf(few.database!, statement);
    const inMany = await pagesOf(many.database!, statement);
    const text = `${statement.name} touches ${inFew} pages with few records and ${inMany} with many`;
    const holds = inMany - inFew <= MOST_MORE * statement.descents;
    proofs.that(`${text}: at most ${MOST_MORE} more for each descent of an index`, holds, text);
  }
}

async function pagesOf(database: BenchmarkDatabase, { sql }: Statement): Promise<number> {
  const { client } = database;
  await client.query(`CREATE TEMPORARY TABLE model AS SELECT * FROM ${RECORDS} LIMIT 1`);
  const columns = (await database.columnsOf(RECORDS)).join();
  const counts: number[] = [];
  for (let number = 1; number <= TRIES; number += 1) {
    await client.query('BEGIN');
    counts.push(await explain(client, sql(columns), number));
    await client.query('ROLLBACK');
  }
  await client.query('DROP TABLE model');
  return median(counts);
}

async function explain(client: Client, sql: string, number: number): Promise<number> {
  const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, [number]);
  const plan = rows[0]['QUERY PLAN'][0].Plan as Record<string, number>;
  return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
}
