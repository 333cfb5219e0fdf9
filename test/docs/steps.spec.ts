import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TypeOrmModule } from '@nestjs/typeorm';

import {
  CheckoutController,
  Mailer,
  Shipment,
  WarehouseScreen,
} from '../../docs/samples/checkout.controller.js';
import { PaymentProvider } from '../../docs/samples/payments.controller.js';
import { onEachAdapter } from '../support/adapters.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import type { HttpResponse } from '../support/http.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { lapseLease } from '../support/lapsed-lease.js';
import { expectReplay } from '../support/replay.js';

/** Each of them has its effect, and then stands at its gate, where its process may die. */
class FakeProvider extends PaymentProvider {
  readonly gate = new Gate();
  keys: string[] = [];

  async charge(orderId: string, key: string, signal?: AbortSignal) {
    expect(signal?.aborted).toBe(false);
    this.keys.push(key);
    await this.gate.pass();
    return { id: `ch_${orderId}` };
  }
}

class FakeMailer extends Mailer {
  readonly gate = new Gate();
  messages: string[] = [];

  async sendReceipt(_orderId: string, messageId: string) {
    this.messages.push(messageId);
    await this.gate.pass();
  }
}

class FakeScreen extends WarehouseScreen {
  refreshed = 0;

  async refresh() {
    this.refreshed += 1;
    throw new Error('the screen is dark');
  }
}

onEachAdapter((adapter) => {
  describe('docs/samples/checkout.controller.ts', () => {
    let app: IdempotentApp;
    let provider: FakeProvider;
    let mailer: FakeMailer;
    let screen: FakeScreen;

    beforeAll(async () => {
      provider = new FakeProvider();
      mailer = new FakeMailer();
      screen = new FakeScreen();
      app = await startIdempotentApp({
        adapter,
        controllers: [CheckoutController],
        providers: [
          { provide: PaymentProvider, useValue: provider },
          { provide: Mailer, useValue: mailer },
          { provide: WarehouseScreen, useValue: screen },
        ],
        imports: [TypeOrmModule.forFeature([Shipment])],
        entities: [Shipment],
      });
    });
    afterAll(() => app.close());
    beforeEach(async () => {
      provider.keys = [];
      mailer.messages = [];
      screen.refreshed = 0;
      await app.dataSource.getRepository(Shipment).clear();
    });

    const checkOut = (key: string): Promise<HttpResponse> => app.post({ path: '/orders/7/checkout', key });
    const shipments = (): Promise<Shipment[]> => app.dataSource.getRepository(Shipment).find();

    /** Sends a request whose process dies at the gate; the returned function lets it go on after all. */
    async function dieAt(gate: Gate, key: string): Promise<() => Promise<HttpResponse>> {
      gate.close();
      const answer = checkOut(key);
      await gate.arrival();
      await lapseLease(app, key);
      return () => {
        gate.open();
        return answer;
      };
    }

    /** What `dieAt()` has closed is open for the attempts that come. */
    async function resume(gate: Gate, key: string): Promise<HttpResponse> {
      const pass = gate.pass.bind(gate);
      gate.pass = async () => undefined;
      const answer = await checkOut(key);
      gate.pass = pass;
      return answer;
    }

    it('without a crash does each step once, and refreshes the screen once the answer is sent', async () => {
      const key = newKey();
      const first = await checkOut(key);
      const second = await checkOut(key);

      expect(first.status).toBe(201);
      expect(first.json()).toEqual({ charge: 'ch_7', shipment: (await shipments())[0]!.id });
      expectReplay(second, first);
      await eventually(() => expect(screen.refreshed).toBe(1));
      expect([provider.keys.length, mailer.messages.length, (await shipments()).length]).toEqual([1, 1, 1]);
      expect(app.log.messages('error')).toEqual([expect.stringContaining('after its commit')]);
    });

    it('after a crash goes on with the first step that is not recorded', async () => {
      const key = newKey();
      const revive = await dieAt(mailer.gate, key);
      const resumed = await resume(mailer.gate, key);
      const late = await revive();

      expect(resumed.status).toBe(201);
      expect(late.body.equals(resumed.body)).toBe(true);
      expect(provider.keys).toHaveLength(1);
      expect(await shipments()).toHaveLength(1);
      expect(mailer.messages).toHaveLength(2);
      expect(new Set(mailer.messages).size).toBe(1);
    });

    it('after a crash between an effect and its record repeats the step with the same key', async () => {
      const key = newKey();
      const revive = await dieAt(provider.gate, key);
      const resumed = await resume(provider.gate, key);
      await revive();

      expect(resumed.status).toBe(201);
      expect(provider.keys).toHaveLength(2);
      expect(new Set(provider.keys).size).toBe(1);
      expect(await shipments()).toHaveLength(1);
    });
  });
});
