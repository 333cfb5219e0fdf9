import { ApiProperty } from '@nestjs/swagger';

/** RFC 9457: the form in which a request is refused because of its idempotency key. */
export class ProblemDetails {
  @ApiProperty({ format: 'uri' })
  type: string;

  @ApiProperty()
  title: string;

  @ApiProperty({ example: 409 })
  status: number;

  @ApiProperty()
  detail: string;

  @ApiProperty({ example: 'IDEMPOTENCY_KEY_IN_USE' })
  code: string;
}
