import { Matches } from 'class-validator';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A length of time with its unit: `300ms`, `30s`, `5m`, `24h`, `7d`. */
export type Duration = `${number}${keyof typeof UNITS}`;

const PATTERN = /^([1-9]\d*)(ms|s|m|h|d)$/;

export function IsDuration(): PropertyDecorator {
  return Matches(PATTERN, {
    message: "must be a positive whole number with a unit (ms, s, m, h, d), such as '300ms', '30s' or '24h'",
  });
}

export function toMilliseconds(duration: Duration): number {
  const [, amount, unit] = PATTERN.exec(duration)!;
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}
