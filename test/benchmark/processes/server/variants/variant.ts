import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';

import type { ServerSettings } from '../settings.js';

/** How handlers are protected, and what that needs. */
export interface Variant {
  /** Goes onto each handler. */
  protect: MethodDecorator;
  imports?: ModuleMetadata['imports'];
  entities?: Function[];
  migrations?: (new () => MigrationInterface)[];
  /** Removes expired records; how many. */
  purge?(app: INestApplication): Promise<number>;
}

/** What the file of a variant exports. */
export interface VariantFile {
  createVariant(settings: ServerSettings): Variant;
}
