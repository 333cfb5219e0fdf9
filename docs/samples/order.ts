import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

export class CreateOrder {
  item: string;
}

@Entity({ name: 'orders' })
export class Order {
  @PrimaryGeneratedColumn({ type: 'integer' })
  id: number;

  @Column({ type: 'text' })
  item: string;
}
