import { ConfigModule } from '@nestjs/config';
import { validateEnvironment } from './config/validate-environment.js';
import { connect } from './database/connect.js';
import { ordersDataSourceOptions } from './database/data-source-options.js';
import { seedProducts } from './database/seed-products.js';

/** Brings the database up to date: all pending migrations, then the catalogue. Safe to repeat. */
async function migrate(): Promise<void> {
  // Reads and checks the same variables as the application, .env included.
  await ConfigModule.forRoot({ validate: validateEnvironment });
  const dataSource = await connect(ordersDataSourceOptions(process.env.DATABASE_URL!));
  try {
    const done = await dataSource.runMigrations({ transaction: 'all' });
    await seedProducts(dataSource);
    console.log(`Migrations run: ${done.map(({ name }) => name).join(', ') || 'none, all were in place'}.`);
  } finally {
    await dataSource.destroy();
  }
}

try {
  await migrate();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
