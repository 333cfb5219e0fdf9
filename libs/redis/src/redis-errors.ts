import { StoreUnreachableError } from '@exactly-once/nestjs';

/** Of the server as a whole, whatever a command is about. */
const OF_THE_SERVER =
  /^(READONLY|OOM|LOADING|BUSY|MISCONF|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|NOAUTH|NOPERM|WRONGPASS)\b/;

/** The server has refused a command, maybe for one of its records alone: one that somebody else has put there, say. */
export function isRefusedRecord(error: unknown): boolean {
  return (
    error instanceof StoreUnreachableError &&
    isRefusal(error.cause) &&
    !OF_THE_SERVER.test(error.cause.message)
  );
}

/** The server has answered, with an error. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}
