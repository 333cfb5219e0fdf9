import {
  IdempotencyModule,
  mariaDbIdempotencyMigrations,
  MariaDbIdempotencyStore,
} from '@exactly-once/nestjs';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';

// #region module
@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'mariadb',
      url: process.env.MARIADB_URL,
      autoLoadEntities: true,
      migrations: [...mariaDbIdempotencyMigrations],
      migrationsRun: true,
    }),
    IdempotencyModule.forRootAsync({
      dataSource: false,
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => ({
        scope: (request) => request.user.id,
        store: new MariaDbIdempotencyStore(dataSource),
      }),
    }),
  ],
})
export class AppModule {}
// #endregion
