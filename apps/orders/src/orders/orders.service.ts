import {
  ConflictException,
  Injectable,
  NotFoundException,
  UnprocessableEntityException,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import type { Product } from '../products/product.entity.js';
import { ProductsService } from '../products/products.service.js';
import type { CreateOrderDto } from './dto/create-order.dto.js';
import { OrderLine } from './order-line.entity.js';
import { Order } from './order.entity.js';

@Injectable()
export class OrdersService {
  constructor(
    @InjectRepository(Order) private readonly orders: Repository<Order>,
    private readonly products: ProductsService,
  ) {}

  /**
   * Writes to three tables and opens no transaction: it runs in the one of its manager, which also holds the note that
   * this order is placed. So all of it is committed, or none.
   */
  async place(
    manager: EntityManager,
    customerId: string,
    { items, currency }: CreateOrderDto,
  ): Promise<Order> {
    const catalogue = await this.findProducts(manager, items, currency);
    // Always in the same order, so that two orders for the same products cannot deadlock.
    const sorted = items.toSorted((a, b) => (a.sku < b.sku ? -1 : 1));
    for (const { sku, quantity } of sorted) {
      if (!(await this.products.take(manager, sku, quantity))) {
        throw new ConflictException(`There is not enough of ${sku} in stock for an order of ${quantity}.`);
      }
    }
    const lines = sorted.map(({ sku, quantity }) =>
      manager.create(OrderLine, { sku, quantity, unitPrice: catalogue.get(sku)!.price }),
    );
    const total = lines.reduce((sum, line) => sum + line.quantity * line.unitPrice, 0);
    const order = manager.create(Order, { customerId, currency, total });
    await manager.insert(Order, order);
    await manager.insert(
      OrderLine,
      lines.map((line) => Object.assign(line, { orderId: order.id })),
    );
    return Object.assign(order, { lines });
  }

  /** The newest 50 orders of the customer. */
  list(customerId: string): Promise<Order[]> {
    return this.orders.find({
      where: { customerId },
      relations: { lines: true },
      order: { createdAt: 'DESC', lines: { sku: 'ASC' } },
      take: 50,
    });
  }

  /** @throws NotFoundException also for an order of another customer, so that nobody learns which ids exist */
  async findOne(customerId: string, id: string, manager = this.orders.manager): Promise<Order> {
    const order = await manager.findOne(Order, {
      where: { id, customerId },
      relations: { lines: true },
      order: { lines: { sku: 'ASC' } },
    });
    if (!order) {
      throw new NotFoundException(`There is no order ${id}.`);
    }
    return order;
  }

  private async findProducts(
    manager: EntityManager,
    items: CreateOrderDto['items'],
    currency: string,
  ): Promise<Map<string, Product>> {
    const found = await this.products.findBySkus(
      manager,
      items.map(({ sku }) => sku),
    );
    const catalogue = new Map(found.map((product) => [product.sku, product]));
    for (const { sku } of items) {
      const product = catalogue.get(sku);
      if (!product) {
        throw new UnprocessableEntityException(`There is no product ${sku}.`);
      }
      if (product.currency !== currency) {
        throw new UnprocessableEntityException(`${sku} is sold in ${product.currency}, not in ${currency}.`);
      }
    }
    return catalogue;
  }
}
