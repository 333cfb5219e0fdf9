import type { Spread } from './statistics.js';

/** With as many digits as mean something. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** The median, and in brackets the smallest and the largest value where they differ from it. */
export function formatSpread(spread: Spread | undefined): string {
  if (!spread) return '–';
  const [median, min, max] = [spread.median, spread.min, spread.max].map(formatNumber);
  return min === median && max === median ? median! : `${median} (${min}–${max})`;
}
