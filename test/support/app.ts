import type { INestApplication, ModuleMetadata, NestApplicationOptions } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';

import { createAdapter, type AdapterName } from './adapters.js';
import { CapturedLog } from './captured-log.js';

export interface TestAppOptions extends ModuleMetadata {
  adapter: AdapterName;
  /** Global pipes, filters, middleware; called before the app listens. */
  configure?: (app: INestApplication) => void | Promise<void>;
  /** Replaces providers, guards and so on. */
  override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
  applicationOptions?: NestApplicationOptions;
  /** @default a new one, which `TestApp.log` shows */
  logger?: CapturedLog;
}

export interface TestApp {
  app: INestApplication;
  /** Base address, without a slash at the end. */
  url: string;
  log: CapturedLog;
  close(): Promise<void>;
}

/** A Nest app that listens on a free port of the loopback interface. */
export async function startApp(options: TestAppOptions): Promise<TestApp> {
  const {
    adapter,
    configure,
    override,
    applicationOptions,
    logger: log = new CapturedLog(),
    ...metadata
  } = options;
  const builder = Test.createTestingModule(metadata).setLogger(log);
  const module = await (override?.(builder) ?? builder).compile();
  const app = module.createNestApplication(createAdapter(adapter), { ...applicationOptions, logger: log });
  try {
    await configure?.(app);
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    // What the app has opened, such as connections, would keep Jest from ending.
    await app.close().catch(() => undefined);
    throw error;
  }
  return { app, url: await app.getUrl(), log, close: () => app.close() };
}
