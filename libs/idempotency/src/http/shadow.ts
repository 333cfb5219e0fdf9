/** Properties laid over those of one object, and taken away again without a trace. */
export class Shadow<T extends object> {
  private readonly hidden = new Map<PropertyKey, PropertyDescriptor | undefined>();

  constructor(private readonly target: T) {}

  define(values: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(values)) {
      this.lay(name, { value, writable: true });
    }
  }

  read(getters: Record<string, () => unknown>): void {
    for (const [name, get] of Object.entries(getters)) {
      this.lay(name, { get, set: () => undefined });
    }
  }

  remove(): void {
    for (const [name, descriptor] of this.hidden) {
      if (descriptor) {
        Object.defineProperty(this.target, name, descriptor);
      } else {
        Reflect.deleteProperty(this.target, name);
      }
    }
    this.hidden.clear();
  }

  private lay(name: string, descriptor: PropertyDescriptor): void {
    if (!this.hidden.has(name)) {
      this.hidden.set(name, Object.getOwnPropertyDescriptor(this.target, name));
    }
    Object.defineProperty(this.target, name, { ...descriptor, configurable: true, enumerable: true });
  }
}
