const MOST_FAILURES = 5;

interface Proof {
  /** How much it was proved of. */
  amount: number;
  failures: string[];
}

/** What must hold of every slice for its numbers to mean anything. Each statement is one line in the end. */
export class Proofs {
  private readonly proofs = new Map<string, Proof>();

  /**
   * @param found where it does not hold, and what was found there
   * @param amount what this counts for in the line
   */
  that(statement: string, holds: boolean, found: string, amount = 1): void {
    const proof = this.proofs.get(statement) ?? { amount: 0, failures: [] };
    this.proofs.set(statement, proof);
    proof.amount += amount;
    if (!holds) proof.failures.push(found);
  }

  get allHold(): boolean {
    return [...this.proofs.values()].every(({ failures }) => failures.length === 0);
  }

  lines(): string[] {
    return [...this.proofs].flatMap(([statement, { amount, failures }]) => {
      if (failures.length === 0) return [`ok      ${statement} (${amount.toLocaleString('en')})`];
      const more = failures.length - MOST_FAILURES;
      return [
        `FAILED  ${statement}`,
        ...failures.slice(0, MOST_FAILURES).map((found) => `        ${found}`),
        ...(more > 0 ? [`        and ${more} more`] : []),
      ];
    });
  }
}
