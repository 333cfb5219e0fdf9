import type { INestApplication } from '@nestjs/common';

/** When another process started this one: tells it the address, and stops when it is gone. */
export async function attachToParentProcess(app: INestApplication): Promise<void> {
  if (!process.send) {
    return;
  }
  if (process.connected) {
    process.once('disconnect', stop);
    process.send({ type: 'ready', url: await app.getUrl() });
  } else {
    stop();
  }
}

/** The same way out as for a signal from outside: requests finish, connections close. */
function stop(): void {
  process.kill(process.pid, 'SIGTERM');
}
