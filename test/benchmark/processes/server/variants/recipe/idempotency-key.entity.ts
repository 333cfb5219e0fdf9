import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'idempotency_keys' })
export class IdempotencyKey {
  /** Method, path and key. */
  @PrimaryColumn({ name: 'id', type: 'text' })
  id: string;

  /** Hash of the body. */
  @Column({ name: 'fingerprint', type: 'text' })
  fingerprint: string;

  /** Of the request that executes. */
  @Column({ name: 'owner', type: 'uuid' })
  owner: string;

  @Column({ name: 'locked_until', type: 'timestamp with time zone' })
  lockedUntil: Date;

  @Column({ name: 'completed_at', type: 'timestamp with time zone', nullable: true })
  completedAt: Date | null;

  @Column({ name: 'status', type: 'smallint', nullable: true })
  status: number | null;

  /** What the handler returned. */
  @Column({ name: 'response', type: 'jsonb', nullable: true })
  response: unknown;
}
