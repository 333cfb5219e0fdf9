import type { ServerResponse } from 'node:http';

/**
 * Those who came to wait for a response while it was being recorded: a handler that awaits `pipeline(stream, res)`, or
 * the framework. They are told when the response is held as a whole; the others, such as access logs, when it is sent.
 */
export class LateListeners {
  private readonly earlier: readonly unknown[];

  constructor(private readonly response: ServerResponse) {
    this.earlier = [...response.rawListeners('finish'), ...response.rawListeners('close')];
  }

  announce(event: 'finish' | 'close'): void {
    for (const listener of this.response.rawListeners(event)) {
      if (!this.earlier.includes(listener)) {
        this.response.removeListener(event, listener as () => void);
        listener.call(this.response);
      }
    }
  }
}
