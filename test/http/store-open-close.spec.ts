import { IdempotencyConfigurationError, InMemoryIdempotencyStore } from '@exactly-once/nestjs';
import { expect, it } from '@jest/globals';

import { startStoreApp } from '../stores/store-app.js';
import { onEachAdapter } from '../support/adapters.js';
import { errorOf } from '../support/error-of.js';
import { Gate } from '../support/gate.js';
import { newKey } from '../support/idempotent-app.js';

/** Writes down what is asked of it, in order. */
class ObservedStore extends InMemoryIdempotencyStore {
  readonly calls: string[] = [];

  override async open(): Promise<void> {
    // Whoever asked before this is over would be first.
    await new Promise((resolve) => setTimeout(resolve, 50));
    this.calls.push('open');
  }

  override async claim(...claim: Parameters<InMemoryIdempotencyStore['claim']>) {
    this.calls.push('claim');
    return super.claim(...claim);
  }

  override async complete(...outcome: Parameters<InMemoryIdempotencyStore['complete']>) {
    this.calls.push('complete');
    return super.complete(...outcome);
  }

  async close(): Promise<void> {
    this.calls.push('close');
  }
}

onEachAdapter((adapter) => {
  it('a store is opened before requests are served, and closed when the handlers that run are over', async () => {
    const store = new ObservedStore();
    const app = await startStoreApp({ adapter, store });
    const gate = new Gate();
    gate.close();
    app.handle(async () => {
      await gate.pass();
      store.calls.push('handler');
      return 'done';
    });
    const key = newKey();
    const answer = app.post({ key });
    await gate.arrival();
    const closed = app.close();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const beforeTheEnd = [...store.calls];
    gate.open();
    const { status, text } = await answer;
    await closed;

    expect(beforeTheEnd).toEqual(['open', 'claim']);
    expect(store.calls).toEqual(['open', 'claim', 'handler', 'complete', 'close']);
    expect({ status, text }).toEqual({ status: 201, text: 'done' });
    expect(store.peek(key)).toMatchObject({ response: { status: 201 } });
  });

  it('an app does not start where its store refuses to open, with the message of the store', async () => {
    class ClosedStore extends InMemoryIdempotencyStore {
      override async open(): Promise<void> {
        throw new IdempotencyConfigurationError('The vault is locked. Set the option `vault`.');
      }
    }
    const error = await errorOf(startStoreApp({ adapter, store: new ClosedStore() }));

    expect(error).toBeInstanceOf(IdempotencyConfigurationError);
    expect(error).toMatchObject({ message: 'The vault is locked. Set the option `vault`.' });
  });
});
