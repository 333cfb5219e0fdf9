import type { Intent } from '../clients/intent.js';
import type { Gateway } from '../gateway.js';
import { checkAnswers } from './answer-check.js';
import type { Facts } from './facts.js';
import { checkOrder, checkTotals } from './order-check.js';
import { checkPay, checkRefund } from './payment-check.js';
import { checkConnections, checkRecords } from './record-check.js';
import type { Violation } from './violation.js';

/** Everything in which what the clients were told differs from what has happened. */
export function check(intents: readonly Intent[], facts: Facts, gateway: Gateway): Violation[] {
  return [
    ...intents.flatMap((intent) => [
      ...checkEffect(intent, facts),
      ...checkAnswers(intent),
      ...checkRecords(intent, facts),
    ]),
    ...checkTotals(facts),
    ...checkConnections(facts),
    ...checkCustomers(gateway),
    ...gateway.misuses.map((text): Violation => ({ kind: 'mismatched', text: `the gateway got ${text}` })),
  ];
}

/** However many first payments a customer has made at the same moment. */
function checkCustomers({ customers }: Gateway): Violation[] {
  const ids = customers.map(({ customerId }) => customerId);
  const repeated = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  return [...repeated].map((id) => ({
    kind: 'duplicate',
    text: `several customers at the gateway for ${id}`,
  }));
}

function checkEffect(intent: Intent, facts: Facts): Violation[] {
  const { task } = intent;
  switch (task.type) {
    case 'order':
      return checkOrder(intent, task.plan, facts);
    case 'pay':
      return checkPay(intent, task.orderId, facts);
    case 'refund':
      return checkRefund(intent, task.orderId, facts);
  }
}
