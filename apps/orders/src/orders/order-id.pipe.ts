import { Injectable, NotFoundException, ParseUUIDPipe } from '@nestjs/common';

/** A text that is no UUID cannot be the id of an order: 404, as for an id that does not exist. */
@Injectable()
export class OrderIdPipe extends ParseUUIDPipe {
  constructor() {
    super({ exceptionFactory: () => new NotFoundException('There is no such order.') });
  }
}
