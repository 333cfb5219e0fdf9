/** Holds handlers back until the test lets them go on, so that "in flight" is not a matter of timing. */
export class Gate {
  private isOpen = true;
  private readonly held: (() => void)[] = [];
  private readonly expectant: (() => void)[] = [];

  /** From now on handlers stop at `pass()`. */
  close(): void {
    this.isOpen = false;
  }

  open(): void {
    this.isOpen = true;
    this.held.splice(0).forEach((letGo) => letGo());
  }

  /** What a handler awaits. */
  async pass(): Promise<void> {
    if (this.isOpen) {
      return;
    }
    await new Promise<void>((resolve) => {
      this.held.push(resolve);
      this.expectant.splice(0).forEach((tell) => tell());
    });
  }

  /** Resolves when a handler stands at the gate. */
  async arrival(): Promise<void> {
    if (this.held.length === 0) {
      await new Promise<void>((resolve) => this.expectant.push(resolve));
    }
  }
}
