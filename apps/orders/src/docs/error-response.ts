import { ApiProperty } from '@nestjs/swagger';

/** The form of every other error. */
export class ErrorResponse {
  @ApiProperty({ example: 409 })
  statusCode: number;

  @ApiProperty({ oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] })
  message: string | string[];

  @ApiProperty({ example: 'Conflict', required: false })
  error?: string;
}
