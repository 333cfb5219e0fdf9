import { AsyncResource } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';

/**
 * Lets a body that is produced after the handler has returned (a generator, a stream) run where the handler
 * ran: Nest reads it from outside, and what it does to the database would not be part of the transaction.
 * A web `ReadableStream` cannot be bound, since nothing of it is called from here.
 *
 * @returns the same value
 */
export function keepContext<T>(value: T): T {
  if (value instanceof StreamableFile) {
    bindMethods(here(), value.getStream(), ['_read', '_destroy']);
  } else if (value instanceof Readable) {
    bindMethods(here(), value, ['_read', '_destroy']);
  } else if (isAsyncIterable(value)) {
    bindIterable(here(), value);
  }
  return value;
}

function here(): AsyncResource {
  return new AsyncResource('keepContext');
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof value === 'object' && value !== null && Symbol.asyncIterator in value && !('getReader' in value)
  );
}

function bindIterable(inside: AsyncResource, iterable: AsyncIterable<unknown>): void {
  const start = iterable[Symbol.asyncIterator].bind(iterable);
  const value = (): AsyncIterator<unknown> =>
    bindMethods(inside, inside.runInAsyncScope(start), ['next', 'return', 'throw']);
  Object.defineProperty(iterable, Symbol.asyncIterator, { value, configurable: true, writable: true });
}

function bindMethods<T extends object>(inside: AsyncResource, target: T, names: readonly string[]): T {
  for (const name of names) {
    const method: unknown = Reflect.get(target, name);
    if (typeof method === 'function') {
      const bound = (...args: unknown[]): unknown =>
        inside.runInAsyncScope(method as (...args: unknown[]) => unknown, target, ...args);
      Reflect.set(target, name, bound);
    }
  }
  return target;
}
