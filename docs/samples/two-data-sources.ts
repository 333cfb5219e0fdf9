import { IdempotencyModule, idempotencyMigrations } from '@exactly-once/nestjs';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';

// #region module
@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: process.env.REPORTS_DATABASE_URL }),
    TypeOrmModule.forRoot({
      name: 'billing',
      type: 'postgres',
      url: process.env.BILLING_DATABASE_URL,
      autoLoadEntities: true,
      migrations: [...idempotencyMigrations],
      migrationsRun: true,
    }),
    IdempotencyModule.forRoot({ dataSource: 'billing', scope: (request) => request.user.id }),
  ],
})
export class AppModule {}
// #endregion
