import { newKey } from '../support/idempotent-app.js';
import { PatientClient, type Intent, type Told } from './patient-client.js';

/** Each pair sends the same intents at the same time, one to each server. */
const PAIRS = 6;

export interface Load {
  /** Lets clients end the intents that they are at. @returns what each client was told */
  stop(): Promise<Told[]>;
}

/** Clients that send one intent after the other, of both modes, with short and with long handlers. */
export function startLoad(first: string, second: string): Load {
  const state = { isOver: false };
  const told: Told[] = [];
  const loops = Array.from({ length: PAIRS }, async (_, number) => {
    const clients = [new PatientClient([first, second]), new PatientClient([second, first])];
    for (let count = 1; !state.isOver; count += 1) {
      const intent = intentOf(`${number}/${count}`, number % 2 === 0, number % 3 === 0);
      told.push(...(await Promise.all(clients.map((client) => client.tell(intent)))));
    }
    clients.forEach((client) => client.close());
  });
  return {
    stop: async () => {
      state.isOver = true;
      await Promise.all(loops);
      return told;
    },
  };
}

function intentOf(intent: string, inTransaction: boolean, isShort: boolean): Intent {
  const path = inTransaction ? '/transaction' : '/lease';
  return { key: newKey(), path, work: { intent, pause: isShort ? 10 : 1_000 } };
}
