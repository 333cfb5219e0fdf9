/**
 * Milliseconds that an answer asks to wait for (RFC 9110, section 10.2.3). A date counts from the answer's own `Date`, since
 * the clock of the client may be wrong.
 */
export function retryAfter({ headers }: Response): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (!value) {
    return undefined;
  }
  if (/^\d+$/.test(value)) {
    return Number(value) * 1_000;
  }
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  const wait = Date.parse(value) - now;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
