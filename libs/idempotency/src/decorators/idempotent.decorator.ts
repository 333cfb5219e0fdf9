import { RequestMethod, UseFilters, UseGuards, UseInterceptors } from '@nestjs/common';
import { IDEMPOTENT_METADATA } from '../idempotency.constants.js';
import { IdempotencyExceptionFilter } from '../http/idempotency-exception.filter.js';
import { IdempotencyGuard } from '../http/idempotency.guard.js';
import { IdempotencyInterceptor } from '../http/idempotency.interceptor.js';
import { METHOD_METADATA } from '../nest-metadata.js';
import type { IdempotentOptions } from '../options/idempotent-options.interface.js';
import { type Registration, registrations } from './registration.js';
import { wrapMethod } from './wrap-method.js';

/** What a decorated class covers: PUT and DELETE are idempotent by themselves, and often not worth a record. */
const COVERED_BY_CLASS: ReadonlySet<unknown> = new Set([RequestMethod.POST, RequestMethod.PATCH]);

/**
 * Makes a handler execute once per idempotency key and answer every retry with the first result.
 *
 * On a controller class it covers the POST and PATCH handlers. GET, HEAD and OPTIONS are never touched.
 * Options are merged field by field: handler over class over module.
 *
 * Put it above `@UseInterceptors(FileInterceptor(…))`, so that an upload has been read when the key is claimed.
 *
 * @example
 * @Post()
 * @Idempotent()
 * create(@Body() dto: CreateOrderDto) {
 *   return this.orders.create(dto);
 * }
 * @publicApi
 */
export function Idempotent(options: IdempotentOptions = {}): MethodDecorator & ClassDecorator {
  return (target: object | Function, methodName?: string | symbol, descriptor?: PropertyDescriptor) => {
    if (descriptor) {
      decorateMethod(
        (target as { constructor: Function }).constructor,
        String(methodName),
        descriptor,
        options,
      );
    } else {
      decorateClass(target as Function, options);
    }
  };
}

function decorateMethod(
  controller: Function,
  methodName: string,
  descriptor: PropertyDescriptor,
  options: IdempotentOptions,
): void {
  const existing = Reflect.getOwnMetadata(IDEMPOTENT_METADATA, descriptor.value) as Registration | undefined;
  if (existing) {
    // Twice on one method is one decoration, of which the upper one wins.
    existing.options = { ...existing.options, ...options };
    return;
  }
  const registration: Registration = { options, controller, methodName };
  registrations.push(registration);
  descriptor.value = wrapMethod(descriptor.value, registration);
  Reflect.defineMetadata(IDEMPOTENT_METADATA, registration, descriptor.value);
  const target = controller.prototype as object;
  UseGuards(IdempotencyGuard)(target, methodName, descriptor);
  UseInterceptors(IdempotencyInterceptor)(target, methodName, descriptor);
  UseFilters(IdempotencyExceptionFilter)(target, methodName, descriptor);
}

function decorateClass(controller: Function, options: IdempotentOptions): void {
  Reflect.defineMetadata(IDEMPOTENT_METADATA, options, controller);
  for (const methodName of methodNames(controller.prototype as object)) {
    const method: unknown = (controller.prototype as Record<string, unknown>)[methodName];
    if (isCovered(method)) {
      const descriptor = { value: method, writable: true, configurable: true, enumerable: false };
      decorateMethod(controller, methodName, descriptor, {});
      Object.defineProperty(controller.prototype, methodName, descriptor);
    }
  }
}

function isCovered(method: unknown): boolean {
  return (
    typeof method === 'function' &&
    COVERED_BY_CLASS.has(Reflect.getMetadata(METHOD_METADATA, method)) &&
    !Reflect.hasMetadata(IDEMPOTENT_METADATA, method)
  );
}

/** Also inherited ones: a route of a base class is a route of this controller. */
function methodNames(prototype: object | null): Set<string> {
  if (!prototype || prototype === Object.prototype) {
    return new Set();
  }
  const own = Object.getOwnPropertyNames(prototype).filter((name) => {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
    return name !== 'constructor' && typeof descriptor?.value === 'function';
  });
  return new Set([...own, ...methodNames(Object.getPrototypeOf(prototype))]);
}
