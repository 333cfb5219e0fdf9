import { setTimeout as sleep } from 'node:timers/promises';
import { All, Controller, Inject, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Answer } from './answer-table.js';
import { findAnswer } from './find-answer.js';
import { notFound, type Problem } from './problem.js';
import { readKey } from './request-key.js';
import { SeenKeys } from './seen-keys.js';

/** Injection token of the table. */
export const ANSWERS = Symbol('answers');

/** Answers everything from the table. */
@Controller()
export class MockController {
  constructor(
    @Inject(ANSWERS) private readonly answers: readonly Answer[],
    private readonly seen: SeenKeys,
  ) {}

  @All('*path')
  async answer(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { method } = request;
    const path = decode(request.path);
    const needsKey = method !== 'GET';
    const key = needsKey ? readKey(request.get('idempotency-key')) : undefined;
    const answer = findAnswer(this.answers, method, path, typeof key === 'string' ? key : undefined);
    if (!answer) {
      return send(response, problemAnswer(notFound(`${method} ${path}`)));
    }
    if (typeof key === 'object') {
      return send(response, problemAnswer(key));
    }
    // A key that has an answer of its own gets it each time.
    if (key !== undefined && answer.key === undefined) {
      if (this.seen.isFirst(`${method} ${path}`, key)) {
        await sleep(answer.delay ?? 0);
      } else {
        response.set('Idempotent-Replayed', 'true');
      }
    } else {
      await sleep(answer.delay ?? 0);
    }
    send(response, answer);
  }
}

/** As the table has it; a path that cannot be decoded fits none. */
function decode(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

type Sent = Pick<Answer, 'status' | 'headers' | 'body'>;

function problemAnswer(problem: Problem): Sent {
  return { status: problem.status, body: problem };
}

function send(response: Response, { status, headers = {}, body }: Sent): void {
  const type = status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8';
  response.status(status);
  if (body === undefined) {
    response.set(headers).end();
  } else {
    response.set({ 'Content-Type': type, ...headers }).end(JSON.stringify(body));
  }
}
