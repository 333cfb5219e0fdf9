import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { plainToInstance } from 'class-transformer';
import { validate, type ValidationError } from 'class-validator';
import { AnswerTable, type Answer } from './answer-table.js';
import { UsageError } from './usage.error.js';

/** The table that is used when no other is named. */
export const DEFAULT_ANSWERS = fileURLToPath(new URL('../answers.json', import.meta.url));

/** @throws UsageError that names what is wrong with the file, and where */
export async function readAnswers(file: string): Promise<Answer[]> {
  const content: unknown = await readJson(file);
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new UsageError(`${file} must be an object with the list \`answers\`.`);
  }
  const table = plainToInstance(AnswerTable, content);
  const errors = await validate(table, { whitelist: true, forbidNonWhitelisted: true });
  if (errors.length > 0) {
    throw new UsageError(
      [`${file} cannot be used:`, ...errors.flatMap((error) => describe(error))].join('\n- '),
    );
  }
  return table.answers;
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new UsageError(`${file} cannot be read: ${cause.message}.`);
  });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`${file} is not JSON: ${(cause as Error).message}.`);
  }
}

/** One line for each fault, such as `answers.2: status must be an integer number`. */
function describe({ property, constraints = {}, children = [] }: ValidationError, path = ''): string[] {
  const own = Object.values(constraints).map((fault) => (path ? `${path}: ${fault}` : fault));
  const inside = path ? `${path}.${property}` : property;
  return [...own, ...children.flatMap((child) => describe(child, inside))];
}
