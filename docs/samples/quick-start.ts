// #region example
import { IdempotencyModule, idempotencyMigrations, Idempotent } from '@exactly-once/nestjs';
import { Body, Controller, Module, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CreateOrder, Order } from './order.js';

@Controller('orders')
export class OrdersController {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  @Post()
  @Idempotent()
  create(@Body() body: CreateOrder) {
    return this.orders.save(body);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      autoLoadEntities: true,
      migrations: [...idempotencyMigrations],
      migrationsRun: true,
    }),
    TypeOrmModule.forFeature([Order]),
    IdempotencyModule.forRoot({ scope: (request) => request.user.id }),
  ],
  controllers: [OrdersController],
})
export class AppModule {}
// #endregion
