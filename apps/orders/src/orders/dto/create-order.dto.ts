import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsInt,
  IsISO4217CurrencyCode,
  IsString,
  Length,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';

export class OrderItemDto {
  @ApiProperty({ example: 'KIBBLE-2KG' })
  @IsString()
  @Length(1, 64)
  sku: string;

  @ApiProperty({ example: 2, minimum: 1, maximum: 100 })
  @IsInt()
  @Min(1)
  @Max(100)
  quantity: number;
}

export class CreateOrderDto {
  @ApiProperty({ type: [OrderItemDto], description: 'At most 20, each sku once' })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(20)
  @ArrayUnique((item?: OrderItemDto) => item?.sku)
  @ValidateNested({ each: true })
  @Type(() => OrderItemDto)
  items: OrderItemDto[];

  @ApiProperty({ example: 'JPY' })
  @IsISO4217CurrencyCode()
  currency: string;
}

/** The same text for the same order, in whatever sequence a client sends the fields. */
export function contentOf({ currency, items }: CreateOrderDto): string {
  return JSON.stringify([currency, ...items.map(({ sku, quantity }) => [sku, quantity])]);
}
