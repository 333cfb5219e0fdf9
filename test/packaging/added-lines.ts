import { run } from './command.js';

export interface Difference {
  text: string;
  /** Changed lines are among them: the new line of each is an added one. */
  addedLines: number;
}

/** What `git diff` says of two files or folders, wherever they are. */
export async function difference(before: string, after: string, cwd: string): Promise<Difference> {
  const args = ['diff', '--no-index', '--no-color', '--no-ext-diff', '--unified=1', before, after];
  // 1 says that there is a difference.
  const text = await run('git', args, { cwd, expectedCodes: [0, 1] });
  const addedLines = text.split('\n').filter((line) => /^\+(?!\+\+ )/.test(line)).length;
  return { text, addedLines };
}
