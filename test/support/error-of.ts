/** What a promise is rejected with. @throws when it is fulfilled */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`An error was expected, and not the value ${JSON.stringify(value)}.`);
}
