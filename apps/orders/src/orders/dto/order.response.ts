import { ApiProperty } from '@nestjs/swagger';
import type { Order } from '../order.entity.js';
import { OrderStatus } from '../order-status.js';

export class OrderLineResponse {
  @ApiProperty({ example: 'KIBBLE-2KG' })
  sku: string;

  @ApiProperty({ example: 2 })
  quantity: number;

  @ApiProperty({ example: 1980 })
  unitPrice: number;
}

export class OrderResponse {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ enum: OrderStatus })
  status: OrderStatus;

  @ApiProperty({ example: 3960, description: "In the currency's minor unit" })
  total: number;

  @ApiProperty({ example: 'JPY' })
  currency: string;

  @ApiProperty({ type: [OrderLineResponse] })
  items: OrderLineResponse[];

  @ApiProperty({ format: 'date-time' })
  createdAt: string;

  static from(order: Order): OrderResponse {
    return {
      id: order.id,
      status: order.status,
      total: order.total,
      currency: order.currency,
      items: order.lines.map(({ sku, quantity, unitPrice }) => ({ sku, quantity, unitPrice })),
      createdAt: order.createdAt.toISOString(),
    };
  }
}
