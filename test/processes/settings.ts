import type { IdempotencyModuleOptions } from '@exactly-once/nestjs';

import type { AdapterName } from '../support/adapters.js';

/** Environment variable with the settings of a process, as JSON. */
export const SETTINGS = 'PROCESS_SETTINGS';

export interface ProcessSettings {
  /** Whose effects are whose. */
  name: string;
  databaseUrl: string;
  options?: Partial<Omit<IdempotencyModuleOptions, 'scope'>>;
}

export interface ServerSettings extends ProcessSettings {
  adapter: AdapterName;
}

/** What a server tells those who started it. */
export type ServerMessage = { type: 'listening'; url: string } | { type: 'held' };

/** What they tell it: to let handlers that stand still go on. */
export type GateCommand = 'let go';

/** One of many deliveries of a message. */
export interface Delivery {
  number: number;
  /** Of the message. */
  key: string;
}

/** What a consumer tells those who started it. */
export type ConsumerMessage =
  | { type: 'ready' }
  | { type: 'held'; attempt: number }
  | { type: 'acknowledged'; delivery: Delivery; value: unknown }
  /** To be delivered again. */
  | { type: 'put off'; delivery: Delivery; code: string; after: number }
  /** Would end alike each time. */
  | { type: 'set aside'; delivery: Delivery; reason: string };

/** What they tell it. */
export type ConsumerCommand = GateCommand | { deliver: Delivery };
