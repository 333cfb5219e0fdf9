import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import { describe } from './duration.js';

/**
 * Refuses a group of options that is not an object, or has a field that does not exist: a misspelt option would
 * otherwise be ignored in silence.
 *
 * @param otherwise what may stand in place of the object, for the message
 * @throws IdempotencyConfigurationError
 */
export function checkFields(option: string, value: unknown, fields: readonly string[], otherwise = ''): void {
  if (value === undefined) {
    return;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new IdempotencyConfigurationError(
      `The option \`${option}\` is ${describe(value)}. Use an object with these fields: ${fields.join(', ')}${otherwise}.`,
    );
  }
  const unknown = Object.keys(value).find((field) => !fields.includes(field));
  if (unknown !== undefined) {
    throw new IdempotencyConfigurationError(
      `The option \`${option}.${unknown}\` does not exist. The fields of \`${option}\` are: ${fields.join(', ')}.`,
    );
  }
}
