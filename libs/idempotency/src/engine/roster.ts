/** Has a place in one roster at a time. */
export interface Rostered {
  /** Set by the roster: its place, or -1. */
  place: number;
}

/**
 * Who is there right now, of many that come and go. A `Set` would do, but its table is made anew after as many comings as
 * it has room for; the old tables lie where only a full collection looks, and until then keep alive all who were there: the
 * garbage collector then copies each request around, and again.
 */
export class Roster<T extends Rostered> {
  private readonly members: T[] = [];

  get size(): number {
    return this.members.length;
  }

  add(member: T): void {
    member.place = this.members.push(member) - 1;
  }

  /** Does nothing for one who is not there. */
  remove(member: T): void {
    const { place } = member;
    if (place < 0) {
      return;
    }
    const last = this.members.pop()!;
    if (last !== member) {
      this.members[place] = last;
      last.place = place;
    }
    member.place = -1;
  }

  /** Those who are there now; they may go meanwhile. */
  all(): T[] {
    return [...this.members];
  }
}
