import { Module } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Environment } from '../config/environment.js';
import { connect } from './connect.js';
import { ordersDataSourceOptions } from './data-source-options.js';

@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService<Environment, true>) => ({
        ...ordersDataSourceOptions(config.get('DATABASE_URL', { infer: true })),
        poolSize: config.get('DB_POOL_SIZE', { infer: true }),
        // Whoever supervises the process starts it again; it does not wait for a database by itself.
        toRetry: () => false,
      }),
      dataSourceFactory: (options) => connect(options!),
    }),
  ],
})
export class DatabaseModule {}
