import { idempotencyMigrations } from '@exactly-once/nestjs';
import { DataSource } from 'typeorm';

export interface DatabaseTemplate {
  /** Unique among the templates; letters, digits and `_`. */
  name: string;
  prepare(url: string): Promise<void>;
}

export const emptyTemplate: DatabaseTemplate = {
  name: 'empty',
  prepare: async () => undefined,
};

/** The library's own tables, made by its migrations as an app would. */
export const libraryTemplate: DatabaseTemplate = {
  name: 'library',
  async prepare(url) {
    const dataSource = new DataSource({ type: 'postgres', url, migrations: [...idempotencyMigrations] });
    await dataSource.initialize();
    await dataSource.runMigrations();
    await dataSource.destroy();
  },
};
