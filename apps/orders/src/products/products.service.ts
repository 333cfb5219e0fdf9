import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, MoreThanOrEqual, Repository } from 'typeorm';
import { Product } from './product.entity.js';

@Injectable()
export class ProductsService {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  list(): Promise<Product[]> {
    return this.products.find({ order: { sku: 'ASC' } });
  }

  findBySkus(manager: EntityManager, skus: string[]): Promise<Product[]> {
    return manager.findBy(Product, { sku: In(skus) });
  }

  /**
   * Takes the quantity out of the stock in one conditional statement, so that two orders at the same
   * moment cannot both take the last one.
   *
   * @returns false when there is not enough left
   */
  async take(manager: EntityManager, sku: string, quantity: number): Promise<boolean> {
    const { affected } = await manager.decrement(
      Product,
      { sku, stock: MoreThanOrEqual(quantity) },
      'stock',
      quantity,
    );
    return affected === 1;
  }
}
