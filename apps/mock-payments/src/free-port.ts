import { once } from 'node:events';
import { createServer } from 'node:net';

/** @returns the first port from this one on that nobody listens on */
export async function freePortFrom(port: number): Promise<number> {
  const server = createServer();
  try {
    server.listen(port);
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return freePortFrom(port + 1);
  }
  server.close();
  await once(server, 'close');
  return port;
}
