import pg from 'pg';

export interface CountedStatements {
  /** Of each message that was sent, in order: the round trips. */
  readonly texts: string[];
  stop(): void;
}

/** Notes what every client of this process sends, until it is stopped. */
export function countStatements(): CountedStatements {
  const { query } = pg.Client.prototype;
  const texts: string[] = [];
  pg.Client.prototype.query = function (this: pg.Client, ...args: any[]) {
    texts.push(typeof args[0] === 'string' ? args[0] : args[0].text);
    return (query as Function).apply(this, args);
  } as typeof query;
  return { texts, stop: () => void (pg.Client.prototype.query = query) };
}
