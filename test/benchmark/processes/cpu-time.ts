/** CPU time of this process since its start, in microseconds. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
