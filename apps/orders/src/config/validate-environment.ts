import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { Environment } from './environment.js';
import { StartupError } from './startup-error.js';

/**
 * Checks all variables before anything else starts.
 *
 * @throws StartupError whose message names each wrong variable, its value and what to set instead
 */
export function validateEnvironment(variables: Record<string, unknown>): Environment {
  const set = Object.entries(variables).filter(([, value]) => value !== '');
  const environment = plainToInstance(Environment, Object.fromEntries(set));
  const errors = validateSync(environment, { whitelist: true });
  if (errors.length > 0) {
    throw new StartupError(errors.map((error) => explain(error, variables[error.property])).join(' '));
  }
  return environment;
}

function explain({ property, constraints }: ValidationError, value: unknown): string {
  const found = value === undefined || value === '' ? 'is not set' : `is '${withoutPassword(String(value))}'`;
  return `${property} ${found}: it ${Object.values(constraints ?? {})[0]}.`;
}

function withoutPassword(value: string): string {
  return value.replace(/(:\/\/[^:/@]*):.*@/, '$1:***@');
}
