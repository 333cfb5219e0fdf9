import { Module } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { toMilliseconds } from '../config/duration.js';
import type { Environment } from '../config/environment.js';
import { Order } from '../orders/order.entity.js';
import { OrdersModule } from '../orders/orders.module.js';
import { StepsModule } from '../steps/steps.module.js';
import { FakeGatewayEntry } from './fake-gateway-entry.entity.js';
import { FakePaymentGateway } from './fake-payment-gateway.js';
import { GatewayCustomer } from './gateway-customer.entity.js';
import { GatewayCustomers } from './gateway-customers.service.js';
import { HttpPaymentGateway } from './http-payment-gateway.js';
import { PaymentGateway } from './payment-gateway.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentsService } from './payments.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Order, GatewayCustomer, FakeGatewayEntry]), OrdersModule, StepsModule],
  controllers: [PaymentsController],
  providers: [
    PaymentsService,
    GatewayCustomers,
    {
      provide: PaymentGateway,
      inject: [ConfigService, getRepositoryToken(FakeGatewayEntry)],
      useFactory: (
        config: ConfigService<Environment, true>,
        entries: Repository<FakeGatewayEntry>,
      ): PaymentGateway => {
        const url = config.get('GATEWAY_URL', { infer: true });
        const latency = toMilliseconds(config.get('GATEWAY_LATENCY', { infer: true }));
        return url === undefined ? new FakePaymentGateway(entries, latency) : new HttpPaymentGateway(url);
      },
    },
  ],
})
export class PaymentsModule {}
