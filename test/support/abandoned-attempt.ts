import type { HttpResponse } from './http.js';
import { newKey } from './idempotent-app.js';
import { lapseLease } from './lapsed-lease.js';
import type { ScriptedApp, ScriptInput } from './scripted-app.js';

/** An attempt that was never heard of again, so that its lease has run out. */
export interface AbandonedAttempt {
  key: string;
  /** Lets it go on after all, as a process does that was only stopped. */
  revive(): Promise<HttpResponse>;
}

/** @param die what the script awaits where its process dies */
export type AbandonedScript = (input: ScriptInput, die: () => Promise<void>) => Promise<unknown>;

/** Lets a handler run up to where it dies. */
export async function abandon(
  app: ScriptedApp,
  script: AbandonedScript,
  key = newKey(),
): Promise<AbandonedAttempt> {
  let revive!: () => void;
  const revived = new Promise<void>((resolve) => (revive = resolve));
  let answer!: Promise<HttpResponse>;
  await new Promise<void>((resolve, reject) => {
    const die = (): Promise<void> => {
      resolve();
      return revived;
    };
    answer = app.run((input) => script(input, die), { key });
    answer.then(({ text }) => reject(new Error(`It did not die, and answered: ${text}`)), reject);
  });
  await lapseLease(app, key);
  return {
    key,
    revive: () => {
      revive();
      return answer;
    },
  };
}
