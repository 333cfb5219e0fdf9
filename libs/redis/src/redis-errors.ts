/** Of the server as a whole, whatever a command is about. */
const OF_THE_SERVER =
  /^(READONLY|OOM|LOADING|BUSY|MISCONF|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|NOAUTH|NOPERM|WRONGPASS)\b/;

/** The server has refused a command, maybe for one of its records alone: one that somebody else has put there, say. */
export function isRefusedByRedis(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError' && !OF_THE_SERVER.test(error.message);
}
