/** Something that happened at a moment of a run. */
export interface JournalEntry {
  /** Milliseconds since the run of this mode began. */
  at: number;
  text: string;
}

/** The clock of one run, and what was done to it: the faults that a timeline shows beside an intent. */
export class Journal {
  readonly entries: JournalEntry[] = [];
  private readonly begin = performance.now();

  now(): number {
    return performance.now() - this.begin;
  }

  note(text: string): void {
    this.entries.push({ at: this.now(), text });
  }
}
