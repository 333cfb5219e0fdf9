/** Something that the user of the command line can change. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
