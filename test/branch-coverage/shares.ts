import type { Branch } from './branches.js';

export interface Share {
  name: string;
  reached: number;
  all: number;
}

/** How many branches are reached in each group, in the order in which the groups first appear. */
export function sharesBy(branches: Branch[], groupOf: (branch: Branch) => string | undefined): Share[] {
  const shares = new Map<string, Share>();
  for (const branch of branches) {
    const name = groupOf(branch);
    if (name === undefined) continue;
    const share = shares.get(name) ?? { name, reached: 0, all: 0 };
    shares.set(name, share);
    share.all += 1;
    if (branch.reached) share.reached += 1;
  }
  return [...shares.values()];
}

export function percentOf({ reached, all }: Share): number {
  return (reached / all) * 100;
}
