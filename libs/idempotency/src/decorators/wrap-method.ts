import { isObservable, lastValueFrom } from 'rxjs';
import { attemptScope } from '../engine/attempt-scope.js';
import { keepContext } from './keep-context.js';

type Method = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Lets the attempt follow the method's own promise, and keeps everything else of it: name, length and
 * metadata, by which Nest and other decorators know it.
 *
 * @param subject identifies the method: an attempt that surrounds the call may be meant for another one
 */
export function wrapMethod(method: Method, subject: unknown): Method {
  const wrapped: Method = function (...args) {
    const scope = attemptScope.getStore();
    if (!scope || scope.subject !== subject || !scope.attempt.isMethodDue) {
      return method.apply(this, args);
    }
    return scope.attempt.execute(() => settle(method.apply(this, args)));
  };
  for (const key of Reflect.getMetadataKeys(method)) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, method), wrapped);
  }
  return Object.defineProperties(wrapped, {
    name: { value: method.name, configurable: true },
    length: { value: method.length, configurable: true },
  });
}

/** Nest would cancel an Observable when the client disconnects, and the intent with it. */
async function settle(result: unknown): Promise<unknown> {
  const value = await result;
  return keepContext(isObservable(value) ? await lastValueFrom(value, { defaultValue: undefined }) : value);
}
