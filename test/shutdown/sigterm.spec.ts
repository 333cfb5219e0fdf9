import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';

import { onEachAdapter } from '../support/adapters.js';
import { Connection, type RawResponse } from '../support/connection.js';
import { eventually } from '../support/eventually.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { startLoad } from './load.js';
import { PatientClient, type Intent } from './patient-client.js';
import { StoppableServer, type ServerEnd } from './stoppable-server.js';

const PATHS = ['/transaction', '/lease'] as const;

/** Handlers that have begun on the first server when it is told to stop. */
const BEGUN = 40;

/** What Nest does at the end of a shutdown: it sends itself the signal once more. */
const BY_SIGNAL: ServerEnd = { by: 'SIGTERM', closed: true, output: '' };

const intentOf = (path: Intent['path'], pause: number, stuckOn?: string): Intent => ({
  key: newKey(),
  path,
  work: { intent: `${path} for ${pause}`, pause, stuckOn },
});

onEachAdapter((adapter) => {
  /** Has the database; takes no requests. */
  let observer: IdempotentApp;
  /** Two servers of one application; the first one is told to stop. */
  let first: StoppableServer;
  let second: StoppableServer;

  const start = (name: string) =>
    StoppableServer.start({ name, adapter, databaseUrl: observer.database.url });

  beforeAll(async () => {
    observer = await startIdempotentApp({ adapter });
    second = await start('the second');
  });
  afterAll(async () => {
    await second.kill();
    await observer.close();
  });
  beforeEach(async () => {
    await Promise.all([observer.effects.clear(), observer.records.clear()]);
    first = await start('the first');
  });
  afterEach(() => first.kill());

  const effects = async () => (await observer.effects.find()).map(({ name }) => name).toSorted();

  const recorded = async () => {
    const records = await observer.records.find();
    return new Map(records.map(({ key, status, body }) => [key, { status, body: body?.toString('latin1') }]));
  };

  async function begin(intents: Intent[]): Promise<void> {
    const awaited = new Set(intents.map(({ work }) => work.intent));
    while (awaited.size > 0) awaited.delete(await first.begun());
  }

  it('SIGTERM under load loses and doubles nothing', async () => {
    const load = startLoad(first.url, second.url);
    for (let count = 0; count < BEGUN; count += 1) await first.begun();
    const inFlight = PATHS.map((path) => intentOf(path, 1_500));
    const loyal = inFlight.map((intent) => new PatientClient([first.url]).tell(intent));
    await begin(inFlight);
    first.terminate();
    const end = await first.end();
    const told = [...(await load.stop()), ...(await Promise.all(loyal))];

    expect(end).toEqual(BY_SIGNAL);
    const sendings = told.flatMap((one) => one.sendings);
    const refusals = sendings.flatMap(({ server, answer }) =>
      answer?.status === 503 ? [{ server, answer }] : [],
    );
    expect(refusals.length).toBeGreaterThan(0);
    for (const { server, answer } of refusals) {
      expect(server).toBe(first.url);
      expectRefusal(answer);
    }
    const unanswered = sendings.filter(({ answer }) => !answer);
    expect(unanswered.filter(({ server }) => server !== first.url)).toEqual([]);

    const intents = new Map(told.map(({ key, work }) => [key, work.intent]));
    expect(await effects()).toEqual([...intents.values()].toSorted());
    const records = await recorded();
    for (const { key, answer } of told) {
      expect(answer.status).toBe(201);
      expect({ status: answer.status, body: answer.body }).toEqual(records.get(key));
    }
    // Whoever executes answers the one who asked: each other client gets a replay.
    const originals = sendings.filter(
      ({ answer }) => answer?.status === 201 && !answer.headers['idempotent-replayed'],
    );
    expect(originals).toHaveLength(intents.size);
    for (const {
      sendings: [only, ...others],
      answer,
    } of told.slice(-inFlight.length)) {
      expect(only!.answer).toBe(answer);
      expect(JSON.parse(answer.body)).toMatchObject({ by: 'the first' });
      expect(others).toEqual([]);
    }
  });

  it('new claims are refused while handlers run to their end, and a second SIGTERM neither hastens nor hinders that', async () => {
    const inFlight = PATHS.map((path) => intentOf(path, 3_000));
    const open = await Connection.open(first.url);
    const loyal = inFlight.map((intent) => new PatientClient([first.url]).tell(intent));
    await begin(inFlight);
    first.terminate();
    const refusals = [await untilRefused(open, '/transaction')];
    first.terminate();
    refusals.push(await untilRefused(open, '/lease'));
    const late = await Connection.open(first.url);
    refusals.push(await untilRefused(late, '/lease'));
    first.terminate();
    const told = await Promise.all(loyal);
    const end = await first.end();

    refusals.forEach(expectRefusal);
    expect(end).toEqual(BY_SIGNAL);
    const records = await recorded();
    for (const { key, answer, sendings } of told) {
      expect(sendings).toHaveLength(1);
      expect({ status: 201, body: answer.body }).toEqual(records.get(key));
    }
    const ofHandlers = (await effects()).filter((name) => name !== 'too early');
    expect(ofHandlers).toEqual(inFlight.map(({ work }) => work.intent).toSorted());
  });

  it('app.close() leaves nothing behind that would keep the process', async () => {
    const inFlight = PATHS.map((path) => intentOf(path, 1_500));
    const loyal = inFlight.map((intent) => new PatientClient([first.url]).tell(intent));
    await begin(inFlight);
    first.close();
    const told = await Promise.all(loyal);
    const end = await first.end();

    expect(end).toEqual({ by: 0, closed: true, output: '' });
    expect(told.map(({ answer }) => answer.status)).toEqual([201, 201]);
  });

  it('a handler that never settles does not keep the process, and a retry gets the truth', async () => {
    const stuck = PATHS.map((path) => intentOf(path, 0, 'the first'));
    const connections = await Promise.all(stuck.map(() => Connection.open(first.url)));
    stuck.forEach(({ path, key, work }, index) => connections[index]!.post(path, key, work));
    await begin(stuck);
    first.terminate();
    const answers = Promise.all(connections.map((connection) => connection.read()));
    const end = await first.end();
    const retried = await Promise.all(stuck.map((intent) => new PatientClient([second.url]).tell(intent)));

    expect(end).toMatchObject({ by: 'SIGTERM', closed: true });
    expect(end.output).toMatch('2 idempotent requests were still being executed at shutdown');
    const [inTransaction, underLease] = await answers;
    expectAnswer(inTransaction!, 503, 'IDEMPOTENCY_NOT_COMMITTED');
    expectAnswer(underLease!, 503, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
    const [inOther, unknown] = retried.map(({ answer }) => answer);
    expect(JSON.parse(inOther!.body)).toMatchObject({ by: 'the second' });
    expectAnswer(unknown!, 409, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
    expect(await effects()).toEqual(stuck.map(({ work }) => work.intent).toSorted());
  }, 60_000);
});

/** Asks again and again, with new keys. */
function untilRefused(connection: Connection, path: string): Promise<RawResponse> {
  return eventually(async () => {
    connection.post(path, newKey(), { intent: 'too early', pause: 0 });
    const answer = await connection.read();
    expect(answer.status).toBe(503);
    return answer;
  });
}

function expectAnswer({ status, body }: RawResponse, expectedStatus: number, code: string): void {
  expect({ status, body: JSON.parse(body) }).toMatchObject({ status: expectedStatus, body: { code } });
}

function expectRefusal(answer: RawResponse): void {
  expectAnswer(answer, 503, 'IDEMPOTENCY_SHUTTING_DOWN');
  expect(answer.headers['retry-after']).toBe('1');
}
