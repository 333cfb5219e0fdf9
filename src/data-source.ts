import { ordersDataSourceOptions } from '@exactly-once/orders/data-source-options';
import { DataSource } from 'typeorm';

const url = process.env['DATABASE_URL'];
if (!url) throw new Error('Set DATABASE_URL to the database that the migrations are for.');

/** For TypeORM's command line: `npm run typeorm -- migration:show`. */
export default new DataSource(ordersDataSourceOptions(url));
