import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ProductResponse } from './product.response.js';
import { ProductsService } from './products.service.js';

@ApiTags('products')
@ApiBearerAuth()
@Controller('products')
export class ProductsController {
  constructor(private readonly products: ProductsService) {}

  @Get()
  @ApiOkResponse({ type: [ProductResponse] })
  async list(): Promise<ProductResponse[]> {
    const products = await this.products.list();
    return products.map((product) => ProductResponse.from(product));
  }
}
