/** Whose cases they are. */
export interface ContractPlace {
  store: string;
  server: string;
  callers: number;
}

/** Part of the full name of each case, and of no other test. */
export const CONTRACT = 'the contract of stores';

/** The titles of the blocks that a case is in, from the outermost. */
export function blockTitles({ store, server, callers }: ContractPlace): string[] {
  return [CONTRACT, store, server, `${callers} callers`];
}

/** @param titles may have others around */
export function placeOf(titles: readonly string[]): ContractPlace | undefined {
  const start = titles.indexOf(CONTRACT);
  if (start < 0) return undefined;
  const [, store, server, callers] = titles.slice(start);
  return { store: store!, server: server!, callers: Number.parseInt(callers!, 10) };
}
