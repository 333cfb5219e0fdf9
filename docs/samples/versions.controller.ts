import { Idempotent } from '@exactly-once/nestjs';
import { Body, Controller, Post, Version } from '@nestjs/common';

@Controller('orders')
export class VersionedOrdersController {
  // #region versions
  @Post()
  @Version('1')
  @Idempotent({ operation: 'create-order/1' })
  create(@Body() body: { item: string }) {
    return body;
  }

  @Post()
  @Version('2')
  @Idempotent({ operation: 'create-order/2' })
  createForMany(@Body() body: { item: string }) {
    return { items: [body.item] };
  }
  // #endregion
}
