import { idempotencyMigrations, IdempotencyRecord } from '@exactly-once/nestjs';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Order } from '../order.js';
import { CreateOrders1767225600000 } from './create-orders.migration.js';

export const dataSourceOptions: DataSourceOptions = {
  type: 'postgres',
  url: process.env.DATABASE_URL,
  entities: [Order, IdempotencyRecord],
  migrations: [...idempotencyMigrations, CreateOrders1767225600000],
};

/** For TypeORM's command line: `typeorm migration:run -d dist/data-source.js`. */
export default new DataSource(dataSourceOptions);
