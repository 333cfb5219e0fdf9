import { read } from './markdown.js';

const INTERFACES: readonly [file: string, name: string][] = [
  ['idempotent-options.interface.ts', 'IdempotentOptions'],
  ['module-options.interface.ts', 'IdempotencyModuleOptions'],
  ['module-options.interface.ts', 'IdempotencyModuleExtras'],
];

/** Every option, with what its comment in the source says after `@default`. */
export function optionDefaults(): Map<string, string | undefined> {
  const defaults = new Map<string, string | undefined>();
  for (const [file, name] of INTERFACES) {
    const source = read(`libs/idempotency/src/options/${file}`);
    const body = new RegExp(`^export interface ${name}[^{]*\\{\\n((?:.*\\n)*?)\\}$`, 'm').exec(source)![1]!;
    for (const [, comment, option] of body.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+(\w+)\??:/g)) {
      defaults.set(option!, /@default (.*?)\s*$/m.exec(comment!)?.[1]);
    }
  }
  return defaults;
}
