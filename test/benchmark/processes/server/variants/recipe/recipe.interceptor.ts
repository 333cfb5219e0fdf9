import {
  type CallHandler,
  ConflictException,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UnprocessableEntityException,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { createHash, randomUUID } from 'node:crypto';
import { catchError, from, mergeMap, type Observable, of } from 'rxjs';
import { Repository } from 'typeorm';

import { IdempotencyKey } from './idempotency-key.entity.js';

interface HttpRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: unknown;
}

interface HttpResponse {
  statusCode: number;
  status(code: number): HttpResponse;
  header(name: string, value: string): HttpResponse;
}

type Claim = Pick<IdempotencyKey, 'id' | 'owner' | 'fingerprint'>;

/** One statement before the handler, one after it, each with a commit of its own. */
@Injectable()
export class RecipeInterceptor implements NestInterceptor {
  constructor(@InjectRepository(IdempotencyKey) private readonly keys: Repository<IdempotencyKey>) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const response = context.switchToHttp().getResponse<HttpResponse>();
    const claim = {
      id: `${request.method} ${request.url} ${request.headers['idempotency-key']}`,
      fingerprint: createHash('sha256').update(JSON.stringify(request.body)).digest('hex'),
      owner: randomUUID(),
    };
    if (!(await this.claim(claim))) return of(await this.replay(claim, response));
    return next.handle().pipe(
      mergeMap(async (value) => {
        await this.complete(claim, response.statusCode, value);
        return value;
      }),
      catchError((error) => from(this.free(claim, error))),
    );
  }

  /** Whether this request has the key: it is new, or whoever had it has let its lock run out. */
  private async claim(claim: Claim): Promise<boolean> {
    const { raw } = await this.keys
      .createQueryBuilder()
      .insert()
      .values({ ...claim, lockedUntil: () => `now() + interval '30 seconds'` })
      .orUpdate(['owner', 'fingerprint', 'locked_until'], ['id'], {
        overwriteCondition: {
          where: 'IdempotencyKey.completedAt IS NULL AND IdempotencyKey.lockedUntil < now()',
        },
      })
      .returning(['id'])
      .execute();
    return (raw as unknown[]).length > 0;
  }

  private async replay({ id, fingerprint }: Claim, response: HttpResponse): Promise<unknown> {
    const found = await this.keys.findOneBy({ id });
    if (found && found.fingerprint !== fingerprint) {
      throw new UnprocessableEntityException('The key was used for another request.');
    }
    if (!found?.completedAt) throw new ConflictException('The first request is still being executed.');
    response.status(found.status!).header('Idempotent-Replayed', 'true');
    return found.response;
  }

  private async complete({ id, owner }: Claim, status: number, response: unknown): Promise<void> {
    await this.keys.update(
      { id, owner },
      { completedAt: () => 'now()', status, response: response as object },
    );
  }

  private async free({ id, owner }: Claim, error: unknown): Promise<never> {
    await this.keys.delete({ id, owner });
    throw error;
  }
}
