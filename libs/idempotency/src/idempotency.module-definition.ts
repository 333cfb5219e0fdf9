import { ConfigurableModuleBuilder } from '@nestjs/common';
import { IDEMPOTENCY_MODULE_OPTIONS } from './idempotency.constants.js';
import type {
  IdempotencyModuleExtras,
  IdempotencyModuleOptions,
} from './options/module-options.interface.js';
import { repositoryProvider } from './typeorm/repository.provider.js';

const EXTRAS: IdempotencyModuleExtras = { isGlobal: true, dataSource: undefined };

/** @internal */
export const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<IdempotencyModuleOptions>({
  optionsInjectionToken: IDEMPOTENCY_MODULE_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createIdempotencyOptions')
  .setExtras(EXTRAS, (definition, { isGlobal, dataSource }) => ({
    ...definition,
    global: isGlobal,
    providers: [...(definition.providers ?? []), repositoryProvider(dataSource)],
  }))
  .build();
