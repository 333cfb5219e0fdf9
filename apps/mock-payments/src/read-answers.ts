import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { validate } from 'class-validator';
import { Answer } from './answer-table.js';
import { UsageError } from './usage.error.js';

/** The table that is used when no other is named. */
export const DEFAULT_ANSWERS = fileURLToPath(new URL('../answers.json', import.meta.url));

/** @throws UsageError that names what is wrong with the file, and where */
export async function readAnswers(file: string): Promise<Answer[]> {
  const { answers } = Object(await readJson(file)) as { answers?: unknown };
  if (!Array.isArray(answers) || answers.length === 0) {
    throw new UsageError(
      `${file} must be an object with the list \`answers\`, which has one answer at least.`,
    );
  }
  const read = answers.map((answer) => Object.assign(new Answer(), answer));
  const faults = await Promise.all(read.map((answer, index) => faultsOf(answer, `answers.${index}`)));
  if (faults.flat().length > 0) {
    throw new UsageError([`${file} cannot be used:`, ...faults.flat()].join('\n- '));
  }
  return read;
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
async function faultsOf(answer: Answer, place: string): Promise<string[]> {
  const errors = await validate(answer, { whitelist: true, forbidNonWhitelisted: true });
  return errors.flatMap(({ constraints = {} }) =>
    Object.values(constraints).map((fault) => `${place}: ${fault}`),
  );
}
