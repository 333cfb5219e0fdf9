import { ApiProperty } from '@nestjs/swagger';
import type { Product } from './product.entity.js';

export class ProductResponse {
  @ApiProperty({ example: 'KIBBLE-2KG' })
  sku: string;

  @ApiProperty({ example: 'Dry cat food, 2 kg' })
  name: string;

  @ApiProperty({ example: 1980, description: "In the currency's minor unit" })
  price: number;

  @ApiProperty({ example: 'JPY' })
  currency: string;

  @ApiProperty({ example: 100 })
  stock: number;

  static from({ sku, name, price, currency, stock }: Product): ProductResponse {
    return { sku, name, price, currency, stock };
  }
}
