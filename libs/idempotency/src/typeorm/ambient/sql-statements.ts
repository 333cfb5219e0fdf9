/** What may contain a semicolon that ends no statement. Source: the Postgres manual, section 4.1. */
const OPAQUE: readonly RegExp[] = [
  /--[^\n\r]*/y,
  /[eE]'[^'\\]*(?:(?:\\[\s\S]|'')[^'\\]*)*'/y,
  /'[^']*(?:''[^']*)*'/y,
  /"[^"]*(?:""[^"]*)*"/y,
  /\$([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$[\s\S]*?\$\1\$/y,
];

const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;

/**
 * The first words of each statement of a SQL text, in capitals, without comments, texts and quoted names.
 *
 * @param count of words of each statement
 */
export function firstWordsOfStatements(sql: string, count: number): string[][] {
  const statements: string[][] = [[]];
  let position = 0;
  while (position < sql.length) {
    const opaque = opaqueLength(sql, position);
    const word = opaque === 0 ? match(WORD, sql, position) : '';
    if (word && statements.at(-1)!.length < count) {
      statements.at(-1)!.push(word.toUpperCase());
    }
    if (sql[position] === ';') {
      statements.push([]);
    }
    position += opaque || word.length || 1;
  }
  return statements;
}

function opaqueLength(sql: string, position: number): number {
  if (sql.startsWith('/*', position)) {
    return blockCommentLength(sql, position);
  }
  return Math.max(...OPAQUE.map((pattern) => match(pattern, sql, position).length));
}

/** Block comments nest. */
function blockCommentLength(sql: string, start: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  let depth = 0;
  for (let found = mark.exec(sql); found; found = mark.exec(sql)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) {
      return mark.lastIndex - start;
    }
  }
  return sql.length - start;
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}
