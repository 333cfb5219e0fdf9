import { Type } from 'class-transformer';
import {
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** What one kind of request gets. */
export class Answer {
  @IsIn(METHODS)
  method: (typeof METHODS)[number];

  /** With `:name` for a part that may be anything. */
  @Matches(/^\//, { message: '$property must be a path that begins with /' })
  path: string;

  /** For requests with this key alone, each time the same. */
  @IsOptional()
  @IsString()
  @Length(1, 255)
  key?: string;

  @IsInt()
  @Min(200)
  @Max(599)
  status: number;

  /** Milliseconds until the first request with a key is answered. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(600_000)
  delay?: number;

  @IsOptional()
  @IsObject()
  headers?: Record<string, string>;

  /** Any JSON; none where it is left out. */
  @IsOptional()
  body?: unknown;

  /** For the page that lists the endpoints. */
  @IsOptional()
  @IsString()
  summary?: string;

  /** A body to send, for that page. */
  @IsOptional()
  example?: unknown;
}

/** The first one that fits a request counts. */
export class AnswerTable {
  @IsArray()
  @ArrayNotEmpty()
  @ValidateNested({ each: true })
  @Type(() => Answer)
  answers: Answer[];
}
