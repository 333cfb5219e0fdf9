import { makeApp } from './make-app.js';
import { freePortFrom } from './free-port.js';
import { readAnswers } from './read-answers.js';
import { readSettings } from './settings.js';
import { UsageError } from './usage.error.js';

const FIRST_PORT = 3100;

async function start(): Promise<void> {
  const { file, port } = readSettings(process.argv.slice(2), process.env);
  const app = await makeApp(await readAnswers(file));
  app.enableShutdownHooks();
  await app.listen(port ?? (await freePortFrom(FIRST_PORT)));
  const address = `http://localhost:${new URL(await app.getUrl()).port}`;
  console.log(`
Mock  ${address}

It gives fixed answers, which this address lists and can send. It verifies no server: it only shows how a client
deals with them. They come from ${file};
another table: npm run mock -- --answers <file>

  curl -i ${address}/payments -H 'Idempotency-Key: first-try' -H 'Content-Type: application/json' -d '{"amount":9800,"currency":"JPY"}'
`);
}

start().catch((error: NodeJS.ErrnoException) => {
  const isExplained = error instanceof UsageError;
  const inUse =
    error.code === 'EADDRINUSE' &&
    `Port ${process.env.PORT} is in use. Set PORT to another one, or leave it out.`;
  console.error(isExplained ? error.message : inUse || error);
  process.exit(1);
});
