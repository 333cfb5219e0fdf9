import type { LeaseBatchStatements } from '../../libs/idempotency/src/typeorm/lease-batch-statements.js';
import type { LeaseStatements } from '../../libs/idempotency/src/typeorm/lease-statements.js';
import type { PostgresLeaseStore } from '../../libs/idempotency/src/typeorm/postgres-lease.store.js';

/** A store that lacks one protection. */
export interface Mutant {
  /** Ends the sentence "the model finds a store that …". */
  title: string;
  statement: `single.${keyof LeaseStatements}` | `shared.${keyof LeaseBatchStatements}`;
  protection: string | RegExp;
  /** @default nothing */
  instead?: string;
}

const ownerIsCompared = { protection: ' AND "owner" = $2', instead: ' AND $2::uuid IS NOT NULL' };

/** Found by operations that come one after the other. */
export const simpleMutants: Mutant[] = [
  { title: 'completes whatever the owner is', statement: 'single.complete', ...ownerIsCompared },
  { title: 'renews whatever the owner is', statement: 'single.renew', ...ownerIsCompared },
  { title: 'records steps whatever the owner is', statement: 'single.recordSteps', ...ownerIsCompared },
  {
    title: 'records steps that come late',
    statement: 'single.recordSteps',
    protection: / AND \("steps" IS NULL OR .*$/,
  },
  { title: 'releases whatever the owner is', statement: 'single.release', ...ownerIsCompared },
  {
    title: 'drops recorded steps with a release',
    statement: 'single.release',
    protection: ' AND "steps" IS NULL',
  },
  {
    title: 'frees what is live as abandoned',
    statement: 'single.releaseAbandoned',
    protection: ' AND "lock_expires_at" <= clock_timestamp()',
  },
  {
    title: 'goes on with the steps of an expired record',
    statement: 'single.restart',
    protection: '"steps" = NULL, ',
  },
  {
    title: 'purges what has a live lease',
    statement: 'single.purge',
    protection: /"lock_expires_at" <= now\(\)/g,
    instead: 'true',
  },
];

/** Found by operations beside each other only. */
export const racingMutants: Mutant[] = [
  {
    title: 'looks whether there is a record, and then writes one',
    statement: 'shared.claim',
    protection: 'DO NOTHING',
    instead: 'DO UPDATE SET "owner" = EXCLUDED."owner"',
  },
  {
    title: 'takes over what has been renewed since the look-up',
    statement: 'single.takeOver',
    protection: '"lock_expires_at" <= clock_timestamp()',
    instead: 'true',
  },
  {
    title: 'takes over what has been completed since the look-up',
    statement: 'single.takeOver',
    protection: ' AND "completed_at" IS NULL',
  },
  {
    title: 'begins an expired record anew that somebody else has just begun',
    statement: 'single.restart',
    protection: /(WHERE "id" = \$1) AND .* RETURNING/,
    instead: '$1 RETURNING',
  },
  {
    title: 'purges what somebody has begun anew since it was looked up',
    statement: 'single.purge',
    protection: / FOR UPDATE SKIP LOCKED(\) DELETE .* doomed\)) AND .*$/,
    instead: '$1',
  },
];

/** Found only where concurrent operations share statements. */
export const sharedMutants: Mutant[] = [
  {
    title: 'completes in a batch whatever the owner is',
    statement: 'shared.complete',
    protection: ' AND t."owner" = d.owner',
  },
  {
    title: 'renews in a batch whatever the owner is',
    statement: 'shared.renew',
    protection: ' AND t."owner" = d.owner',
  },
];

export function applyMutant(mutant: Mutant, stores: PostgresLeaseStore[]): void {
  const { statement, protection, instead = '' } = mutant;
  const [group, name] = statement.split('.') as ['single' | 'shared', string];
  const texts = {
    single: stores.map((store) => store['sql']),
    shared: stores.map((store) => store['batches']['sql']),
  };
  for (const text of texts[group] as Record<string, string>[]) {
    const broken = text[name]!.replace(protection, instead);
    if (broken === text[name]) throw new Error(`There is no such protection any more in: ${text[name]}`);
    text[name] = broken;
  }
}
