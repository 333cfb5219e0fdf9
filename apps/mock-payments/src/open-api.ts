import type { OpenAPIObject } from '@nestjs/swagger';
import type { Answer } from './answer-table.js';

/** Lists what the table answers. Answers of one operation are told apart by the key in their examples. */
export function describeAnswers(answers: readonly Answer[]): OpenAPIObject {
  const paths: OpenAPIObject['paths'] = {};
  for (const answer of answers) {
    const path = answer.path.replaceAll(/:(\w+)/g, '{$1}');
    const method = answer.method.toLowerCase() as 'get';
    const same = answers.filter((one) => one.method === answer.method && one.path === answer.path);
    (paths[path] ??= {})[method] ??= operationOf(same);
  }
  return {
    openapi: '3.0.0',
    info: {
      title: 'Mock payments',
      version: '1',
      description:
        'Fixed answers for the developers of clients, chosen by the idempotency key. What is sent in the body does not ' +
        'matter. That a client works with this mock says nothing about a server.',
    },
    paths,
  };
}

function operationOf(answers: readonly Answer[]) {
  const [{ method, path }] = answers as [Answer];
  const examples = answers.flatMap(({ example }) => (example === undefined ? [] : [example]));
  return {
    summary: answers.at(-1)!.summary ?? '',
    description: answers.map(describe).join('\n'),
    parameters: [...pathParameters(path), ...(method === 'GET' ? [] : [keyParameter(answers)])],
    ...(examples.length > 0 && {
      requestBody: { content: { 'application/json': { example: examples.at(-1) } } },
    }),
    responses: Object.fromEntries(
      answers.map(({ status, summary, body }) => [
        status,
        {
          description: summary ?? '',
          content: { [status < 400 ? 'application/json' : 'application/problem+json']: { example: body } },
        },
      ]),
    ),
  };
}

function describe({ key, status, delay, summary }: Answer): string {
  const after = delay ? `, after ${delay / 1_000} s the first time` : '';
  return `- ${key === undefined ? 'Any key' : `The key \`${key}\``}: ${status}${after}. ${summary ?? ''}`;
}

function pathParameters(path: string) {
  return Array.from(path.matchAll(/:(\w+)/g), ([, name]) => ({
    name: name!,
    in: 'path' as const,
    required: true,
    schema: { type: 'string' as const },
  }));
}

function keyParameter(answers: readonly Answer[]) {
  const keys = answers.flatMap(({ key }) => (key === undefined ? [] : [key]));
  return {
    name: 'Idempotency-Key',
    in: 'header' as const,
    required: false,
    description: 'Without it the answer is 400.',
    schema: { type: 'string' as const },
    examples: Object.fromEntries(['first-try', ...keys].map((key) => [key, { value: key }])),
  };
}
