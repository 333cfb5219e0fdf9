import { Client } from 'pg';

console.log('An address in the log of the migrations: http://wrong.example');
if (process.env.FAKE_APP === 'cannot migrate') {
  console.error('The table is in the way.');
  process.exit(1);
}
const client = new Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
await client.query('CREATE TABLE IF NOT EXISTS starts (at timestamptz DEFAULT now())');
await client.query('INSERT INTO starts DEFAULT VALUES');
await client.end();
