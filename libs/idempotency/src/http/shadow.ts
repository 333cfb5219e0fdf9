/**
 * Properties laid over those of one object, and taken away again without a trace.
 *
 * The descriptors are shared by all objects, and the property that was laid last is taken away first: so the engine keeps
 * one hidden class for all of them, where new functions and deletions in any order would make each a slow dictionary.
 */
export class Shadow<T extends object> {
  private readonly laid: [name: PropertyKey, hidden: PropertyDescriptor | undefined][] = [];

  constructor(private readonly target: T) {}

  lay(descriptors: readonly (readonly [PropertyKey, PropertyDescriptor])[]): void {
    const { target } = this;
    for (const [name, descriptor] of descriptors) {
      this.laid.push([name, Object.getOwnPropertyDescriptor(target, name)]);
      Object.defineProperty(target, name, descriptor);
    }
  }

  remove(): void {
    for (let last = this.laid.pop(); last; last = this.laid.pop()) {
      const [name, hidden] = last;
      if (hidden) {
        Object.defineProperty(this.target, name, hidden);
      } else {
        Reflect.deleteProperty(this.target, name);
      }
    }
  }
}

/** Methods and getters, as they are laid. */
export function descriptorsOf(properties: object): (readonly [string, PropertyDescriptor])[] {
  return Object.entries(Object.getOwnPropertyDescriptors(properties)).map(([name, descriptor]) => {
    const setter = descriptor.get && { set: () => undefined };
    return [name, { ...descriptor, ...setter, configurable: true, enumerable: true }];
  });
}
