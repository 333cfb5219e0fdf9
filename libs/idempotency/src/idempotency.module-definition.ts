import { ConfigurableModuleBuilder, type DynamicModule } from '@nestjs/common';
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
    providers: [
      ...(definition.providers ?? []),
      repositoryProvider(hasStore(definition) ? false : dataSource),
    ],
  }))
  .build();

/** Of `forRoot()`. What `forRootAsync()` will give is not known before the DataSources are made. */
function hasStore({ providers = [] }: DynamicModule): boolean {
  return providers.some(
    (provider) =>
      'useValue' in provider &&
      provider.provide === IDEMPOTENCY_MODULE_OPTIONS &&
      (provider.useValue as IdempotencyModuleOptions | undefined)?.store !== undefined,
  );
}
