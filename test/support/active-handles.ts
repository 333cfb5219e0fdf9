import { createHook } from 'node:async_hooks';

/** Where a timer of the library was set, such as `engine/lease-keeper.ts`, by the id of the timer. */
const timers = new Map<number, string>();

/**
 * Sees the library's timers from here on, also those that do not keep the process (`unref()`), of which
 * `process.getActiveResourcesInfo()` says nothing.
 */
const hook = createHook({
  init(id, type) {
    if (type === 'Timeout') {
      const place = placeInLibrary();
      if (place) timers.set(id, place);
    }
  },
  destroy(id) {
    timers.delete(id);
  },
});

export function watchTimers(): void {
  hook.enable();
}

/** Where the timers of the library were set that are still to fire. Those from before `watchTimers()` are missing. */
export function libraryTimers(): string[] {
  return [...timers.values()].toSorted();
}

/** What keeps this process, by kind: a kind for each handle. */
export function activeResources(): string[] {
  return process.getActiveResourcesInfo().toSorted();
}

/** What is there now and was not before. Less than before is no fault: something may just have come to its end. */
export function resourcesBeyond(before: string[], now: string[]): string[] {
  const known = [...before];
  return now.filter((kind) => {
    const index = known.indexOf(kind);
    if (index >= 0) known.splice(index, 1);
    return index < 0;
  });
}

function placeInLibrary(): string | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 50;
  const { stack } = new Error('Here a timer is set.');
  Error.stackTraceLimit = stackTraceLimit;
  const [, since, place] = /^(.*?)libs\/idempotency\/src\/([\w./-]+\.ts)/s.exec(stack!) ?? [];
  // Node keeps the date of responses for a second, whoever sends one.
  return since?.includes('node:_http_outgoing') ? undefined : place;
}
