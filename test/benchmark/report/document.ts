import { readFile, writeFile } from 'node:fs/promises';

import type { Table } from './tables.js';

const BEGIN = '<!-- benchmark:begin -->';
const END = '<!-- benchmark:end -->';

/** Puts the output of a run between the marks of the document. */
export async function writeDocument(
  file: string,
  surroundings: readonly string[],
  tables: readonly Table[],
): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(file, fillIn(text, [...surroundings, ...tables.flatMap(toMarkdown)]));
}

/** @throws Error when the marks are missing */
export function fillIn(text: string, lines: readonly string[]): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`The document has no ${BEGIN} before a ${END}.`);
  return `${text.slice(0, begin + BEGIN.length)}\n\n${lines.join('\n').trim()}\n\n${text.slice(end)}`;
}

function toMarkdown({ title, head, rows }: Table): string[] {
  return [
    '',
    `### ${title.replace(/: .*/, '')}`,
    '',
    line(head),
    line(head.map(() => '---')),
    ...rows.map(line),
  ];
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
