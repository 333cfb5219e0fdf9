import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** What a handler under test does to the database: how many rows there are is how often it took effect. */
@Entity({ name: 'effects' })
export class Effect {
  @PrimaryGeneratedColumn({ type: 'integer' })
  id!: number;

  @Column({ type: 'text' })
  name!: string;
}
