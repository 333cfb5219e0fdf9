import { randomBytes } from 'node:crypto';

import { startGuardedServer } from './guarded-server.js';
import { openTestRun, RUN_ID, SERVER_URL } from './test-run.js';

export interface TestServer {
  stop(): Promise<void>;
}

/** The server of `DATABASE_URL`, or an embedded one that lives as long as this test run. */
export async function startTestServer(): Promise<TestServer> {
  const given = process.env['DATABASE_URL'];
  const embedded = given ? undefined : await startGuardedServer();
  const url = given ?? embedded!.url;
  const run = randomBytes(4).toString('hex');
  const openRun = await openTestRun(url, run);
  process.env[SERVER_URL] = url;
  process.env[RUN_ID] = run;
  return {
    async stop() {
      await openRun.close();
      await embedded?.stop();
    },
  };
}
