// Stands in for the orders app: keeps its contract with the launcher, and dies when it is told to.
import { createServer } from 'node:http';

import { Client } from 'pg';

console.log('An address in the log of the app: http://wrong.example');
if (process.env.FAKE_APP === 'dies') process.exit(7);

const server = createServer((request, response) => {
  response.end(JSON.stringify({ pid: process.pid, databaseUrl: process.env.DATABASE_URL }));
});
server.listen(Number(process.env.PORT), () => process.send({ type: 'ready' }));

process.once('disconnect', () => process.exit());
process.once('SIGTERM', async () => {
  if (process.env.FAKE_APP === 'lingers') return;
  const client = new Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  await client.end();
  console.log('The app stops, and its database is still there.');
  process.exit();
});
