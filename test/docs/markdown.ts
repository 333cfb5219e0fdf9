import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { problemExample } from './problem-examples.js';

export const PROJECT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Paths from the root of the project. */
export const DOCUMENTS: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'libs/idempotency/README.md',
  'libs/redis/README.md',
  'libs/client/README.md',
  ...readdirSync(join(PROJECT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

export interface FencedBlock {
  language: string;
  /** What follows the language, such as the sample that the block shows. */
  subject: string;
  content: string;
}

const FENCE = /^```(\w*) ?(.*)\n((?:.*\n)*?)```$/gm;

export function read(path: string): string {
  return readFileSync(join(PROJECT, path), 'utf8');
}

export function fencedBlocks(markdown: string): FencedBlock[] {
  return [...markdown.matchAll(FENCE)].map(([, language, subject, content]) => ({
    language: language!,
    subject: subject!,
    content: content!,
  }));
}

/** The same text with the blocks that show a sample, or an answer of the library, filled from it. */
export function fillIn(markdown: string): string {
  return markdown.replaceAll(FENCE, (block: string, language: string, subject: string) => {
    const content = language === 'ts' ? sample(subject) : language === 'json' && problemExample(subject);
    return content ? `\`\`\`${language} ${subject}\n${content}\`\`\`` : block;
  });
}

/** @param reference a file, or `file#region` */
export function sample(reference: string): string {
  const [path, region] = reference.split('#');
  const source = read(path!);
  if (region === undefined) {
    return source;
  }
  const content = new RegExp(`^ *// #region ${region}\\n((?:.*\\n)*?) *// #endregion$`, 'm').exec(
    source,
  )?.[1];
  if (content === undefined) {
    throw new Error(`${path} has no region '${region}'.`);
  }
  const indent = /^ */.exec(content)![0];
  return content.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

/** Targets of all links, outside of code. */
export function links(markdown: string): string[] {
  const prose = markdown.replaceAll(FENCE, '');
  return [...prose.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target!);
}

/** What the headings are called in links, by GitHub's rule. */
export function anchors(markdown: string): string[] {
  const seen = new Map<string, number>();
  return [...markdown.replaceAll(FENCE, '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => {
    const name = heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name}-${times}`;
  });
}

/** What stands below a heading, down to the next one of its level. */
export function sectionOf(markdown: string, heading: string): string {
  const level = heading.split(' ', 1)[0]!;
  const start = markdown.indexOf(`\n${heading}\n`);
  if (start < 0) {
    throw new Error(`There is no heading '${heading}'.`);
  }
  const section = markdown.slice(start + heading.length + 2);
  const end = section.indexOf(`\n${level} `);
  return end < 0 ? section : section.slice(0, end);
}

/** Cells of the rows of all tables, without their heads. */
export function rowsOf(section: string): string[][] {
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  const isHead = (index: number): boolean =>
    [rows[index], rows[index + 1]].some((row) => row?.startsWith('| ---'));
  return rows
    .filter((_, index) => !isHead(index))
    .map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}
