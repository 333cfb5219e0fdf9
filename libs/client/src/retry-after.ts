/**
 * Milliseconds that an answer asks to wait for (RFC 9110, section 10.2.3). A date counts from the answer's own `Date`, since
 * the clock of the client may be wrong.
 *
 * @returns undefined for anything else, of which `Date.parse()` would make a date of long ago
 */
export function retryAfter({ headers }: Response): number | undefined {
  const value = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(value)) {
    return Number(value) * 1_000;
  }
  const wait = Date.parse(value) - (Date.parse(headers.get('date') ?? '') || Date.now());
  return /^\w{3}, .*GMT$/.test(value) && wait > 0 ? wait : undefined;
}
