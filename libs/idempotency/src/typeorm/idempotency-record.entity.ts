import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * One row per (scope, operation, key). Times are the database's. The columns that completion writes are not
 * indexed, so that Postgres can update the row in place (heap-only).
 *
 * @publicApi
 */
@Entity({ name: 'idempotency_records' })
export class IdempotencyRecord {
  /** SHA-256 over scope, operation and key, each with its length. */
  @PrimaryColumn({ name: 'id', type: 'bytea' })
  id!: Buffer;

  /** `null` where the `scope` option is `false`. */
  @Column({ name: 'scope', type: 'text', nullable: true })
  scope!: string | null;

  @Column({ name: 'operation', type: 'text' })
  operation!: string;

  @Column({ name: 'key', type: 'text' })
  key!: string;

  /** SHA-256 of what a retry must repeat. */
  @Column({ name: 'fingerprint', type: 'bytea' })
  fingerprint!: Buffer;

  /** Fencing token of the attempt that has the record. */
  @Column({ name: 'owner', type: 'uuid' })
  owner!: string;

  /** How often the intent was executed; above 1 only after an abandoned attempt. */
  @Column({ name: 'attempt', type: 'integer' })
  attempt!: number;

  @Column({ name: 'created_at', type: 'timestamp with time zone' })
  createdAt!: Date;

  /** End of the lease; `null` for a record that was written by its own transaction. */
  @Column({ name: 'lock_expires_at', type: 'timestamp with time zone', nullable: true })
  lockExpiresAt!: Date | null;

  /** `null` while the attempt is in progress, or was abandoned. */
  @Column({ name: 'completed_at', type: 'timestamp with time zone', nullable: true })
  completedAt!: Date | null;

  /** End of the retention. */
  @Column({ name: 'expires_at', type: 'timestamp with time zone' })
  expiresAt!: Date;

  /** When the purge looks at the row first: set by the claim and not touched again, unlike `expires_at`. */
  @Index()
  @Column({ name: 'purge_at', type: 'timestamp with time zone' })
  purgeAt!: Date;

  /** Results of the steps that are done, as a JSON object by name; `null` where there are none. */
  @Column({ name: 'steps', type: 'text', nullable: true })
  steps!: string | null;

  /** `null` in a completed record whose response is unavailable. */
  @Column({ name: 'status', type: 'smallint', nullable: true })
  status!: number | null;

  /** A JSON object, as text: `jsonb` would reorder it. */
  @Column({ name: 'headers', type: 'text', nullable: true })
  headers!: string | null;

  @Column({ name: 'body', type: 'bytea', nullable: true })
  body!: Buffer | null;
}
