import { Column, CreateDateColumn, Entity, Index, PrimaryColumn } from 'typeorm';

/** A step that has changed this database, or was refused, while the idempotency records are somewhere else. */
@Entity('inbox_entry')
export class InboxEntry {
  /** The step's key: the same in every attempt of one request. */
  @PrimaryColumn({
    name: 'step_key',
    type: 'varchar',
    length: 64,
    primaryKeyConstraintName: 'inbox_entry_pkey',
  })
  stepKey: string;

  /** What the client's key was used for. */
  @Column({ type: 'text' })
  subject: string;

  /** What came of the step, as JSON. Null only inside its transaction. */
  @Column({ type: 'text', nullable: true })
  outcome: string | null;

  @Index('inbox_entry_created_at')
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;
}
