import type { Answer } from './answer-table.js';

/** @param key of the request, if it has one */
export function findAnswer(
  answers: readonly Answer[],
  method: string,
  path: string,
  key: string | undefined,
): Answer | undefined {
  return answers.find(
    (answer) =>
      answer.method === method && fits(answer.path, path) && (answer.key === undefined || answer.key === key),
  );
}

function fits(template: string, path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]))
  );
}
