import type { Provider } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource, Repository } from 'typeorm';
import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import { IDEMPOTENCY_REPOSITORY, IDEMPOTENCY_RESOLVED_OPTIONS } from '../idempotency.constants.js';
import type { ResolvedModuleOptions } from '../options/resolve-module-options.js';
import { IdempotencyRecord } from './idempotency-record.entity.js';

/**
 * None where the records are in a store of their own.
 *
 * @param name of the DataSource; the default one without it, and none with `false`
 */
export function repositoryProvider(name: string | false | undefined): Provider {
  if (name === false) {
    return {
      provide: IDEMPOTENCY_REPOSITORY,
      inject: [IDEMPOTENCY_RESOLVED_OPTIONS],
      useFactory: requireStore,
    };
  }
  // Called for what it does besides: a DataSource with `autoLoadEntities` then knows the entity.
  TypeOrmModule.forFeature([IdempotencyRecord], name);
  return {
    provide: IDEMPOTENCY_REPOSITORY,
    inject: [IDEMPOTENCY_RESOLVED_OPTIONS, { token: getDataSourceToken(name), optional: true }],
    useFactory: (
      { store }: ResolvedModuleOptions,
      dataSource: DataSource | undefined,
    ): Repository<IdempotencyRecord> | undefined => {
      if (store) {
        return undefined;
      }
      if (!dataSource) {
        throw new IdempotencyConfigurationError(
          `There is no DataSource '${name ?? 'default'}' for idempotency records. Import \`TypeOrmModule.forRoot()\`, name ` +
            `another DataSource with the option \`dataSource\`, or set the option \`store\`.`,
        );
      }
      if (dataSource.options.type !== 'postgres') {
        throw new IdempotencyConfigurationError(
          `The DataSource '${name ?? 'default'}' is of type '${dataSource.options.type}'. Idempotency records need ` +
            `Postgres; name another DataSource with the option \`dataSource\`.`,
        );
      }
      if (!dataSource.hasMetadata(IdempotencyRecord)) {
        throw new IdempotencyConfigurationError(
          `The DataSource '${name ?? 'default'}' does not know the entity IdempotencyRecord. Add it to its ` +
            `\`entities\` (it is exported by '@exactly-once/nestjs'), or set \`autoLoadEntities: true\`.`,
        );
      }
      return dataSource.getRepository(IdempotencyRecord);
    },
  };
}

/** @throws IdempotencyConfigurationError */
function requireStore({ store }: ResolvedModuleOptions): undefined {
  if (!store) {
    throw new IdempotencyConfigurationError(
      'The option `dataSource` is false, so the records are in no DataSource, and the option `store` does not say where ' +
        'else. Set `store`, or leave `dataSource` out to keep the records in Postgres.',
    );
  }
}
