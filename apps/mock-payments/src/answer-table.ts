import { validateHeaderName, validateHeaderValue } from 'node:http';
import { IsIn, IsInt, IsOptional, IsString, Length, Matches, Max, Min, ValidateBy } from 'class-validator';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

function areHeaders(value: unknown): boolean {
  return value instanceof Object && Object.entries(value).every(([name, text]) => isHeader(name, text));
}

function isHeader(name: string, text: unknown): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, text as string);
    return typeof text === 'string' && name.toLowerCase() !== 'content-length';
  } catch {
    return false;
  }
}

/** What one kind of request gets. The first one that fits a request counts. */
export class Answer {
  @IsIn(METHODS)
  method: (typeof METHODS)[number];

  /** With `:name` for a part that may be anything. `/` and `/openapi.json` are the mock's own. */
  @Matches(/^\/(?!openapi\.json$)[^?#]+$/, {
    message: '$property must begin with /, have no query, and be neither / nor /openapi.json',
  })
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
  @ValidateBy(
    { name: 'areHeaders', validator: { validate: areHeaders } },
    { message: '$property must be an object of header names and texts, without Content-Length' },
  )
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
