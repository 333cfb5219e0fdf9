import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** What the handler with an effect writes. */
@Entity({ name: 'orders' })
export class Order {
  @PrimaryGeneratedColumn('increment', { name: 'id', type: 'bigint' })
  id: string;

  @Column({ name: 'item', type: 'text' })
  item: string;

  @Column({ name: 'amount', type: 'integer' })
  amount: number;
}
