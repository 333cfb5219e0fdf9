import { register } from 'tsx/esm/api';

// Jest transforms the tests, but loads this file and what it imports with Node alone.
register();

export default async function globalSetup() {
  const { startTestServer } = await import('./test-server.ts');
  globalThis.testServer = await startTestServer();
}
