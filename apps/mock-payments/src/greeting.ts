import type { Answer } from './answer-table.js';

/** @param file that the answers come from */
export function greeting(address: string, file: string, answers: readonly Answer[]): string {
  return `
Mock  ${address}

It gives fixed answers, which this address lists and can send. It verifies no server: it only shows how a client
deals with them. They come from ${file};
another table: npm run mock -- --answers <file>
${example(address, answers)}`;
}

function example(address: string, answers: readonly Answer[]): string {
  const answer = answers.find(({ method, key }) => method === 'POST' && key === undefined);
  return answer
    ? `
  curl -i ${address}${answer.path} -H 'Idempotency-Key: first-try' -H 'Content-Type: application/json' -d '${JSON.stringify(answer.example ?? {})}'
`
    : '';
}
