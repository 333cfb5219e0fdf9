import { isObservable, lastValueFrom } from 'rxjs';
import { attemptScope } from '../engine/attempt-scope.js';
import { isThenable } from '../engine/thenable.js';
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
    return scope.attempt.execute(() => valueOf(method.apply(this, args)));
  };
  for (const key of Reflect.getMetadataKeys(method)) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, method), wrapped);
  }
  return Object.defineProperties(wrapped, {
    name: { value: method.name, configurable: true },
    length: { value: method.length, configurable: true },
  });
}

function valueOf(result: unknown): unknown {
  return isThenable(result) ? Promise.resolve(result).then(fromObservable) : fromObservable(result);
}

/** Nest would cancel an Observable when the client disconnects, and the intent with it. */
function fromObservable(value: unknown): unknown {
  return isObservable(value)
    ? lastValueFrom(value, { defaultValue: undefined }).then(keepContext)
    : keepContext(value);
}
