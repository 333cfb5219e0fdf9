import { ApiProperty } from '@nestjs/swagger';
import { OrderStatus } from '../orders/order-status.js';
import type { Order } from '../orders/order.entity.js';

export class PaymentResponse {
  @ApiProperty({ format: 'uuid' })
  orderId: string;

  @ApiProperty({ enum: OrderStatus, example: OrderStatus.Paid })
  status: OrderStatus;

  @ApiProperty({ example: 3960, description: "In the currency's minor unit" })
  amount: number;

  @ApiProperty({ example: 'JPY' })
  currency: string;

  @ApiProperty({ type: String, example: 'ch_7d0c' })
  chargeId: string | null;

  @ApiProperty({ type: String, nullable: true, example: null })
  refundId: string | null;

  static from({ id, status, total, currency, chargeId, refundId }: Order): PaymentResponse {
    return { orderId: id, status, amount: total, currency, chargeId, refundId };
  }
}
