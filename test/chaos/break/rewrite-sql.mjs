import pg from 'pg';

/**
 * Lets every statement that a server sends pass through `rewrite`.
 *
 * @param {(sql: string) => string} rewrite
 */
export function rewriteSql(rewrite) {
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (statement, ...rest) {
    if (typeof statement === 'string') {
      return query.call(this, rewrite(statement), ...rest);
    }
    if (typeof statement?.text === 'string') {
      const { text } = statement;
      return query.call(this, Object.assign(statement, { text: rewrite(text) }), ...rest);
    }
    return query.call(this, statement, ...rest);
  };
}
