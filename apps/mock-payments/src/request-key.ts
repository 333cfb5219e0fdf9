import { KEY_REQUIRED, keyInvalid, type Problem } from './problem.js';

const LONGEST = 255;

/** @param value of the header, bare or quoted */
export function readKey(value: string | undefined): string | Problem {
  if (value === undefined) {
    return KEY_REQUIRED;
  }
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(value);
  if (!quoted && !/^[!#-+\--~]*$/.test(value)) {
    return keyInvalid('The key must consist of visible ASCII characters, or be quoted.');
  }
  const key = quoted ? quoted[1]!.replaceAll(/\\(.)/g, '$1') : value;
  if (key.length === 0 || key.length > LONGEST) {
    return keyInvalid(key.length === 0 ? 'The key is empty.' : `The key has ${key.length} characters.`);
  }
  return key;
}
