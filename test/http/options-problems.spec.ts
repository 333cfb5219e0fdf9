import { Idempotent } from '@exactly-once/nestjs';
import { afterEach, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';

import { onEachAdapter } from '../support/adapters.js';
import { startIdempotentApp, newKey, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';

@Controller()
class OrdersController {
  @Post()
  @Idempotent()
  create() {
    return 'created';
  }

  @Post('nobody')
  @Idempotent({ scope: () => undefined })
  nobody() {
    return 'unreachable';
  }
}

onEachAdapter((adapter) => {
  let app: IdempotentApp;

  afterEach(() => app.close());

  const problems = async () => {
    const key = newKey();
    await app.post({ key });
    return [
      await app.post({ key: null }),
      await app.post({ key: '' }),
      await app.post({ key, body: { amount: 200 } }),
      await app.post({ path: '/nobody' }),
    ];
  };
  const names = ['key-required', 'key-invalid', 'key-reused', 'scope-unresolved'];

  it('documentationUrl, problemTypeBase: without them, errors have a name of their own and no link', async () => {
    app = await startIdempotentApp({ adapter, controllers: [OrdersController] });
    const answers = await problems();

    expect(answers.map((answer) => answer.json().type)).toEqual(
      names.map((name) => `urn:exactly-once:problem:${name}`),
    );
    for (const answer of answers) {
      expectProblem(answer, answer.status, answer.json().code);
      expect(answer.headers).not.toHaveProperty('link');
    }
  });

  it('documentationUrl, problemTypeBase: every error is named and described by the addresses that are set', async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [OrdersController],
      options: {
        documentationUrl: 'https://example.com/docs?a=1,2;b#keys',
        problemTypeBase: 'https://example.com/problems#',
      },
    });
    const answers = await problems();

    expect(answers.map((answer) => answer.json().type)).toEqual(
      names.map((name) => `https://example.com/problems#${name}`),
    );
    for (const answer of answers) {
      expectProblem(answer, answer.status, answer.json().code);
      expect(answer.headers.link).toBe('<https://example.com/docs?a=1,2;b#keys>; rel="describedby"');
    }
  });
});
