import { startTestServer } from '../support/test-server.js';
import { Checks } from './checks.js';
import { proveFreshApp } from './fresh-app.js';
import { interruption } from './interruption.js';
import { proveOrdersCopy } from './orders-copy.js';
import { checkContents } from './tarball-contents.js';
import { packLibrary } from './tarball.js';
import { withTemporaryFolder } from './temporary-folder.js';

const checks = new Checks();

await checks.part('The libraries, packed', () =>
  withTemporaryFolder(async (folder) => {
    const tarballs = [await packLibrary('idempotency', folder), await packLibrary('client', folder)];
    for (const tarball of tarballs) await checkContents(tarball, checks);

    const server = await startTestServer();
    try {
      await checks.part('A fresh app that adds the library', () => proveFreshApp(tarballs, checks));
      await checks.part('A copy of the sample app outside of the workspace', () =>
        proveOrdersCopy(tarballs, checks),
      );
    } finally {
      await server.stop();
    }
  }),
);

console.log(`\n${interruption.aborted ? 'Interrupted: ' : ''}${checks.summary()}`);
process.exitCode = checks.haveAllPassed ? 0 : 1;
