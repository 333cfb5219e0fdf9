/** A line comment, up to either kind of line end. */
const LINE_COMMENT = /--[^\n\r]*/y;
const BLANK = /[\s;]+/y;
const WORD = /[a-z_]+/iy;

/**
 * The words that a SQL text begins with, in capitals, without the comments around and between them.
 * Source: the Postgres manual, section 4.1 (block comments nest).
 */
export function firstWords(sql: string, count: number): string[] {
  const words: string[] = [];
  let position = 0;
  while (words.length < count) {
    position = skipBlank(sql, position);
    const word = match(WORD, sql, position);
    if (!word) {
      break;
    }
    words.push(word.toUpperCase());
    position += word.length;
  }
  return words;
}

function skipBlank(sql: string, from: number): number {
  let position = from;
  for (;;) {
    const length =
      match(BLANK, sql, position).length ||
      match(LINE_COMMENT, sql, position).length ||
      blockCommentLength(sql, position);
    if (length === 0) {
      return position;
    }
    position += length;
  }
}

function blockCommentLength(sql: string, from: number): number {
  let depth = 0;
  let position = from;
  do {
    if (sql.startsWith('/*', position)) {
      depth += 1;
      position += 2;
    } else if (depth > 0 && sql.startsWith('*/', position)) {
      depth -= 1;
      position += 2;
    } else if (depth > 0) {
      position += 1;
    }
  } while (depth > 0 && position < sql.length);
  return position - from;
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}
