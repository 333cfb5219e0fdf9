import { Module } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Order } from '../orders/order.entity.js';
import { OrdersModule } from '../orders/orders.module.js';
import type { Environment } from '../config/environment.js';
import { FakePaymentGateway } from './fake-payment-gateway.js';
import { HttpPaymentGateway } from './http-payment-gateway.js';
import { PaymentGateway } from './payment-gateway.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentsService } from './payments.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Order]), OrdersModule],
  controllers: [PaymentsController],
  providers: [
    PaymentsService,
    {
      provide: PaymentGateway,
      inject: [ConfigService],
      useFactory: (config: ConfigService<Environment, true>): PaymentGateway =>
        config.get('GATEWAY_URL', { infer: true }) === undefined
          ? new FakePaymentGateway(config)
          : new HttpPaymentGateway(config),
    },
  ],
})
export class PaymentsModule {}
