import type { Intent } from '../clients/intent.js';
import type { Movement } from '../gateway.js';
import type { Facts } from './facts.js';
import type { Violation, ViolationKind } from './violation.js';

interface PaymentBody {
  chargeId: string | null;
  refundId: string | null;
}

/** One charge at the gateway, however often it was called. */
export function checkPay(intent: Intent, orderId: string, facts: Facts): Violation[] {
  const charged = facts.charges.get(orderId) ?? [];
  return checkMovement(
    intent,
    'charge',
    charged,
    facts.orders.get(orderId)?.charge,
    ({ chargeId }) => chargeId,
  );
}

/** The gateway takes no key for refunds, so each call is one. */
export function checkRefund(intent: Intent, orderId: string, facts: Facts): Violation[] {
  const refunded = facts.refunds.get(orderId) ?? [];
  const recorded = facts.orders.get(orderId)?.refund;
  return checkMovement(intent, 'refund', refunded, recorded, ({ refundId }) => refundId);
}

/** @param recorded what the order says, in the database */
function checkMovement(
  intent: Intent,
  name: 'charge' | 'refund',
  movements: readonly Movement[],
  recorded: string | null | undefined,
  toldIn: (body: PaymentBody) => string | null,
): Violation[] {
  const violations: Violation[] = [];
  const add = (kind: ViolationKind, text: string) => violations.push({ kind, text, intent });
  const ids = movements.map(({ id }) => id);
  if (ids.length > 1) add('duplicate', `${ids.length} ${name}s at the gateway: ${ids.join(', ')}`);
  if (intent.isSuccess) {
    const told = toldIn(intent.result<PaymentBody>());
    if (!ids.some((id) => id === told)) {
      add('lost', `the client was told of ${name} ${told}, which the gateway does not know`);
    }
    if (recorded !== told) {
      add('lost', `the client was told of ${name} ${told}, and the order has ${recorded}`);
    }
  } else if (intent.final && intent.final.status < 500 && ids.length > 0) {
    add('mismatched', `the client was told ${intent.final.status} for good, and there is ${name} ${ids[0]}`);
  }
  return violations;
}
