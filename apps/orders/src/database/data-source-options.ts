import { idempotencyMigrations, IdempotencyRecord } from '@exactly-once/nestjs';
import type { DataSourceOptions } from 'typeorm';
import { OrderLine } from '../orders/order-line.entity.js';
import { Order } from '../orders/order.entity.js';
import { Product } from '../products/product.entity.js';
import { FakeGatewayEntry } from '../payments/fake-gateway-entry.entity.js';
import { GatewayCustomer } from '../payments/gateway-customer.entity.js';
import { InboxEntry } from '../steps/inbox-entry.entity.js';
import { CreateOrders1767225600000 } from './migrations/1767225600000-create-orders.js';
import { CreatePayments1767312000000 } from './migrations/1767312000000-create-payments.js';
import { CreateInbox1767398400000 } from './migrations/1767398400000-create-inbox.js';
import { RememberGatewayRequests1767484800000 } from './migrations/1767484800000-remember-gateway-requests.js';

/** Shared by the application, its migrations and the TypeORM command line. */
export function ordersDataSourceOptions(url: string): DataSourceOptions & { type: 'postgres' } {
  return {
    type: 'postgres',
    url,
    entities: [Product, Order, OrderLine, GatewayCustomer, FakeGatewayEntry, InboxEntry, IdempotencyRecord],
    migrations: [
      ...idempotencyMigrations,
      CreateOrders1767225600000,
      CreatePayments1767312000000,
      CreateInbox1767398400000,
      RememberGatewayRequests1767484800000,
    ],
    synchronize: false,
    connectTimeoutMS: 5_000,
    // `gen_random_uuid()` is part of Postgres since version 13: no extension, no superuser.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
  };
}
