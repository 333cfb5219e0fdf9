import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, MoreThanOrEqual, Repository } from 'typeorm';
import { Product } from './product.entity.js';

@Injectable()
export class ProductsService {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  list(): Promise<Product[]> {
    return this.products.find({ order: { sku: 'ASC' } });
  }

  findBySkus(skus: string[]): Promise<Product[]> {
    return this.products.findBy({ sku: In(skus) });
  }

  /**
   * Takes the quantity out of the stock in one conditional statement, so that two orders at the same
   * moment cannot both take the last one.
   *
   * @returns false when there is not enough left
   */
  async take(sku: string, quantity: number): Promise<boolean> {
    const { affected } = await this.products.decrement(
      { sku, stock: MoreThanOrEqual(quantity) },
      'stock',
      quantity,
    );
    return affected === 1;
  }
}
