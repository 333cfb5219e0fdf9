import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What the fake payment gateway has done for an idempotency key. */
@Entity('fake_gateway_entry')
export class FakeGatewayEntry {
  @PrimaryColumn({
    name: 'idempotency_key',
    type: 'varchar',
    length: 255,
    primaryKeyConstraintName: 'fake_gateway_entry_pkey',
  })
  idempotencyKey: string;

  /** What the key was used for. */
  @Column({ type: 'jsonb' })
  request: object;

  /** Of the charge or the customer. */
  @Column({ type: 'varchar', length: 64 })
  id: string;
}
