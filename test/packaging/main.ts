import { startTestServer } from '../support/test-server.js';
import { Checks } from './checks.js';
import { proveCommonJsApp } from './commonjs-app.js';
import { proveFreshApp } from './fresh-app.js';
import { interruption } from './interruption.js';
import { proveOrdersCopy } from './orders-copy.js';
import { checkContents } from './tarball-contents.js';
import { packLibrary } from './tarball.js';
import { withTemporaryFolder } from './temporary-folder.js';

const checks = new Checks();

await checks.part('The libraries, packed', () =>
  withTemporaryFolder(async (folder) => {
    // One after the other: Redis's is built with the types of the first.
    const tarballs = {
      idempotency: await packLibrary('idempotency', folder),
      client: await packLibrary('client', folder),
      redis: await packLibrary('redis', folder),
    };
    for (const tarball of Object.values(tarballs)) await checkContents(tarball, checks);

    const server = await startTestServer();
    try {
      await checks.part('A fresh app that adds the library', () => proveFreshApp(tarballs, checks));
      await checks.part('The same app in CommonJS on Nest 11', () => proveCommonJsApp(tarballs, checks));
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
