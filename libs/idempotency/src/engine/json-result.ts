/** What would be read back from a record: `undefined` stays, everything else is JSON. @throws for what is not JSON */
export function asJson<T>(value: T): T {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value) ?? 'null') as T);
}
