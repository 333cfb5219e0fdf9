import type { IdempotencyModuleOptions } from '@exactly-once/nestjs';

import type { AdapterName } from '../support/adapters.js';

/** Environment variable with the settings of a process, as JSON. */
export const SETTINGS = 'PROCESS_SETTINGS';

export interface ServerSettings {
  /** Whose effects are whose. */
  name: string;
  databaseUrl: string;
  adapter: AdapterName;
  options?: Partial<Omit<IdempotencyModuleOptions, 'scope'>>;
}

/** What a process tells those who started it. */
export type ServerMessage = { type: 'listening'; url: string } | { type: 'held' };

/** What they tell it. */
export type ServerCommand = 'let go';
