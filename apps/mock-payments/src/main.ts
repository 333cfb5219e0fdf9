import { greeting } from './greeting.js';
import { makeApp } from './make-app.js';
import { freePortFrom } from './free-port.js';
import { readAnswers } from './read-answers.js';
import { readSettings } from './settings.js';
import { UsageError } from './usage.error.js';

const FIRST_PORT = 3100;

async function start(): Promise<void> {
  const { file, port } = readSettings(process.argv.slice(2), process.env);
  const answers = await readAnswers(file);
  const app = await makeApp(answers);
  app.enableShutdownHooks();
  await app.listen(port ?? (await freePortFrom(FIRST_PORT)));
  const address = `http://localhost:${new URL(await app.getUrl()).port}`;
  console.log(greeting(address, file, answers));
}

start().catch((error: NodeJS.ErrnoException) => {
  const isExplained = error instanceof UsageError;
  const inUse =
    error.code === 'EADDRINUSE' &&
    `Port ${process.env.PORT} is in use. Set PORT to another one, or leave it out.`;
  console.error(isExplained ? error.message : inUse || error);
  process.exit(1);
});
