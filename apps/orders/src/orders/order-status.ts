/** `Paying` and `Refunding` last as long as the payment gateway works, or until somebody clears up a crash. */
export enum OrderStatus {
  Created = 'created',
  Paying = 'paying',
  Paid = 'paid',
  Refunding = 'refunding',
  Refunded = 'refunded',
}
