import { describe, expect, it } from '@jest/globals';
import { firstWordsOfStatements } from './sql-statements.js';

describe('the first words of SQL statements', () => {
  it.each([
    ['select 1', [['SELECT']]],
    ['select 1; commit', [['SELECT'], ['COMMIT']]],
    [' ; -- remark\n commit', [[], ['COMMIT']]],
    ['-- remark\rcommit', [['COMMIT']]],
    ['/* a /* nested; */ remark; */ rollback /* now */ to x', [['ROLLBACK', 'TO', 'X']]],
    ["insert 'a; commit'; end", [['INSERT'], ['END']]],
    ["select 'it''s; commit'", [['SELECT']]],
    ["select E'\\'; commit; '", [['SELECT']]],
    ["select 'a\\'; commit", [['SELECT'], ['COMMIT']]],
    ['select "a; commit"', [['SELECT']]],
    ['do $$ begin; end $$; abort', [['DO'], ['ABORT']]],
    ['do $tag$ begin; $$ commit; $tag$', [['DO']]],
    ['select $1; commit', [['SELECT'], ['COMMIT']]],
    ['/* never closed; commit', [[]]],
  ])('are found in %j', (sql, expected) => {
    expect(firstWordsOfStatements(sql, 3)).toEqual(expected);
  });
});
