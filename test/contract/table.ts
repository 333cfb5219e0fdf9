import type { ContractRow } from './contract-rows.js';

const COLUMNS = ['store', 'server', 'callers', 'cases', 'passed'] as const;

/** In the syntax of Markdown, so that it can be put into a document. */
export function tableOf(rows: readonly ContractRow[]): string {
  const cells = [COLUMNS, ...rows.map((row) => COLUMNS.map((column) => String(row[column])))];
  const widths = COLUMNS.map((_, index) => Math.max(...cells.map((line) => line[index]!.length)));
  const [head, ...body] = cells.map((line) => line.map((cell, index) => cell.padEnd(widths[index]!)));
  const rule = widths.map((width) => '-'.repeat(width));
  return [head!, rule, ...body].map((line) => `| ${line.join(' | ')} |`).join('\n');
}
