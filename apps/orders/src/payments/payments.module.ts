import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Order } from '../orders/order.entity.js';
import { OrdersModule } from '../orders/orders.module.js';
import { FakePaymentGateway } from './fake-payment-gateway.js';
import { PaymentGateway } from './payment-gateway.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentsService } from './payments.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Order]), OrdersModule],
  controllers: [PaymentsController],
  providers: [PaymentsService, { provide: PaymentGateway, useClass: FakePaymentGateway }],
})
export class PaymentsModule {}
