import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Whom the payment gateway knows one of our customers as. */
@Entity('gateway_customer')
export class GatewayCustomer {
  @PrimaryColumn({
    name: 'customer_id',
    type: 'varchar',
    length: 64,
    primaryKeyConstraintName: 'gateway_customer_pkey',
  })
  customerId: string;

  /** The gateway's id. */
  @Column({ type: 'varchar', length: 64 })
  id: string;
}
