import { byId } from './dom.js';
import { changeBody, explain, type Fault, placeOrder, SKU, withoutKey } from './orders.js';
import { refresh, showState } from './state-view.js';

const SCENARIOS: Record<string, () => Promise<string>> = {
  nothing: () => placeOrder(),
  'double-click': async () => {
    const verdicts = await Promise.all([placeOrder(), placeOrder()]);
    return verdicts.join(' ');
  },
  'lose-response': () => placeOrder('lose-response' satisfies Fault),
  slow: () => placeOrder('slow' satisfies Fault),
  kill: () => placeOrder('kill' satisfies Fault),
  'other-body': changeBody,
  'no-key': withoutKey,
};

/** Clicks that have no result yet; the button stays alive, as in a shop whose developer has forgotten about it. */
let underWay = 0;

byId<HTMLFormElement>('shop').addEventListener('submit', (event) => {
  event.preventDefault();
  const scenario = new FormData(event.currentTarget as HTMLFormElement).get('scenario') as string;
  void play(SCENARIOS[scenario]!);
});

async function play(scenario: () => Promise<string>): Promise<void> {
  const verdict = byId('verdict');
  underWay += 1;
  verdict.textContent = 'Ordering …';
  const text = await scenario().catch(explain);
  underWay -= 1;
  verdict.textContent = underWay > 0 ? `${text} More is under way.` : text;
  await refresh(SKU).catch(() => undefined);
}

void showState(SKU);
