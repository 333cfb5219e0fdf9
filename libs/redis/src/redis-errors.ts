import { StoreUnreachableError } from '@exactly-once/nestjs';

/** Of the server as a whole, whatever a command is about: judged before the first write. */
const OF_THE_SERVER =
  /^(READONLY|OOM|LOADING|BUSY|MISCONF|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|NOAUTH|WRONGPASS|NOSCRIPT)\b/;

/** Of who connects: by a password that is wrong or missing, or for want of a right. */
const OF_THE_LOGIN = /^(WRONGPASS|NOAUTH|NOPERM)\b/;

/** Under the key of a record is something else, which a script sees by its first look. */
const OF_THE_RECORD = /^WRONGTYPE\b/;

/** The server has answered with an error, and nothing was written. Other errors may come in the middle of a script. */
export function isBeforeWrite(error: unknown): boolean {
  return isReplyError(error) && (OF_THE_SERVER.test(error.message) || OF_THE_RECORD.test(error.message));
}

/** The server has refused a command, maybe for one of its records alone: one that somebody else has put there, say. */
export function isRefusedRecord(error: unknown): boolean {
  const cause = error instanceof StoreUnreachableError ? error.cause : error;
  return isReplyError(cause) && !OF_THE_SERVER.test(cause.message);
}

/** The server has refused who connects, and will until somebody changes a password or a right. */
export function isLoginRefused(error: unknown): boolean {
  return isReplyError(error) && OF_THE_LOGIN.test(error.message);
}

/** What the last node of a cluster said, where none could be used. */
export function reasonOf(error: unknown): unknown {
  return (error as { lastNodeError?: unknown }).lastNodeError ?? error;
}

function isReplyError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}
