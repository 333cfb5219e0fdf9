import { Injectable } from '@nestjs/common';

/** Hands the key of a request from the guard to the interceptor. @internal */
@Injectable()
export class RequestKeys {
  private readonly keys = new WeakMap<object, string>();

  set(request: object, key: string): void {
    this.keys.set(request, key);
  }

  get(request: object): string | undefined {
    return this.keys.get(request);
  }
}
