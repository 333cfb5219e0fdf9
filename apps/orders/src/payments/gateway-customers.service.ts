import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { GatewayCustomer } from './gateway-customer.entity.js';
import { PaymentGateway } from './payment-gateway.js';

/** Customers are created at the gateway with their first payment. */
@Injectable()
export class GatewayCustomers {
  constructor(
    @InjectRepository(GatewayCustomer) private readonly repository: Repository<GatewayCustomer>,
    private readonly gateway: PaymentGateway,
  ) {}

  /**
   * A customer's first payments may come at the same moment. The key is made from what makes the customer unique, so
   * the gateway creates one for all of them.
   */
  async idOf(customerId: string): Promise<string> {
    const known = await this.repository.findOneBy({ customerId });
    if (known) {
      return known.id;
    }
    const id = await this.gateway.createCustomer({
      customerId,
      idempotencyKey: `customer-create-${customerId}`,
    });
    await this.repository.createQueryBuilder().insert().values({ customerId, id }).orIgnore().execute();
    return id;
  }
}
