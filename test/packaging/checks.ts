/** Says of each statement whether it holds, at once, and counts. */
export class Checks {
  private passed = 0;
  private failed = 0;

  /** @param found what was found instead, for a statement that does not hold */
  that(statement: string, holds: boolean, found = ''): void {
    if (holds) this.passed += 1;
    else this.failed += 1;
    console.log(holds ? `ok      ${statement}` : `FAILED  ${statement}${found && `: ${found}`}`);
  }

  /** A part that cannot be finished is a failure, and the parts after it are worked on all the same. */
  async part(title: string, work: () => Promise<void>): Promise<void> {
    console.log(`\n== ${title}`);
    try {
      await work();
    } catch (error) {
      this.that('this part could be finished', false, error instanceof Error ? error.message : String(error));
    }
  }

  get haveAllPassed(): boolean {
    return this.failed === 0 && this.passed > 0;
  }

  summary(): string {
    return `${this.passed} passed, ${this.failed} failed`;
  }
}
