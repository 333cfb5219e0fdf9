import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { breakDatabase, flagsWithout } from './break/break.js';
import { check } from './checks/check.js';
import { type Facts, gatherFacts } from './checks/facts.js';
import type { Violation } from './checks/violation.js';
import { Client } from './clients/client.js';
import { Workload } from './clients/workload.js';
import { FaultInjector } from './fault-injector.js';
import { Gateway } from './gateway.js';
import type { Guard } from './guard.js';
import { Journal } from './journal.js';
import type { ChaosOptions, Mode } from './options.js';
import type { DurablePostgres } from './postgres.js';
import { ChaosProxy } from './proxy/chaos-proxy.js';
import { Random } from './random.js';
import type { ChaosRedis } from './redis.js';
import { drawSchedule } from './schedule.js';
import { createFleet, flagsOfBatching } from './servers/fleet.js';
import type { ServerProcess } from './servers/server-process.js';
import type { ClockSkew } from './servers/skew.js';
import { openShop } from './shop.js';
import { PostgresStore } from './stores/postgres-store.js';
import type { RecordStore } from './stores/record-store.js';
import { RedisStore } from './stores/redis-store.js';

/** More than the clients can want, so that they never run out. */
const INTENTS_PER_SECOND = 500;

const DRAIN_MS = 60_000;
const POOL_SIZE = 2;

/** What the runs of all modes share. */
export interface Surroundings {
  options: ChaosOptions;
  postgres: DurablePostgres;
  /** With `--store redis`. */
  redis: ChaosRedis | undefined;
  guard: Guard;
  skew: ClockSkew;
  /** For the logs of the servers. */
  folder: string;
}

/** What has come of one mode's run. */
export interface RunResult {
  mode: Mode;
  journal: Journal;
  workload: Workload;
  gateway: Gateway;
  faults: FaultInjector['counts'];
  cuts: ChaosProxy['counts'];
  servers: readonly ServerProcess[];
  /** Servers that had to be killed, since they did not stop when they were told to. */
  slowStops: number;
  facts: Facts;
  violations: Violation[];
}

/** One mode's run: a fresh database, servers and clients; faults; the drain; the checks. */
export async function runChaos(mode: Mode, surroundings: Surroundings): Promise<RunResult> {
  const { options, postgres, redis, guard, skew, folder } = surroundings;
  const journal = new Journal();
  const workload = new Workload(mode, INTENTS_PER_SECOND * options.seconds);
  const databaseUrl = await postgres.createDatabase(`chaos_${mode}`);
  await openShop(databaseUrl, workload.room);
  await breakDatabase(databaseUrl, options.broken);
  const gateway = await Gateway.start(new Random(options.seed, `${mode}/gateway`), journal);
  const store = redis ? new RedisStore(redis, databaseUrl) : new PostgresStore(postgres, databaseUrl);
  const proxy = await ChaosProxy.start(store.server.port, () => store.protocol(), journal);
  const fleet = {
    name: mode,
    servers: options.servers,
    storeEnvironment: store.environment(proxy),
    gatewayUrl: gateway.url,
    poolSize: options.faults.has('pool') ? POOL_SIZE : undefined,
    skew,
    flags: [...flagsWithout(options), ...flagsOfBatching(options.batching)],
    folder,
  };
  const servers = await createFleet(fleet, guard, journal);
  await Promise.all(servers.map((server) => server.start()));

  const injector = new FaultInjector(store.server, proxy, servers, journal);
  const load = new Load(surroundings, mode, workload, servers, journal);
  await load.run(injector);
  await load.drain(store);
  const facts = await gatherFacts(databaseUrl, store, gateway);
  const violations = check(workload.intents, facts, gateway);

  const stops = await Promise.all(servers.map((server) => server.stop()));
  await Promise.all([proxy.close(), gateway.close()]);
  const slowStops = stops.filter((inTime) => !inTime).length;
  const { counts: cuts } = proxy;
  const { counts: faults } = injector;
  return { mode, journal, workload, gateway, faults, cuts, servers, slowStops, facts, violations };
}

/** The clients of one run, and how they come to an end. */
class Load {
  private readonly stop = new AbortController();
  private readonly end = new AbortController();
  private readonly clients: Client[];
  private endTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly surroundings: Surroundings,
    private readonly mode: Mode,
    private readonly workload: Workload,
    servers: readonly ServerProcess[],
    private readonly journal: Journal,
  ) {
    const { clients, seed } = surroundings.options;
    // Every pause of every client listens to it.
    setMaxListeners(0, this.end.signal);
    this.clients = Array.from(
      { length: clients },
      (_, index) =>
        new Client(servers, new Random(seed, `${mode}/client/${index}`), journal, this.end.signal),
    );
  }

  /** Returns when the faults are over and every client has what it wanted, or has waited for too long. */
  async run(injector: FaultInjector): Promise<void> {
    const { options } = this.surroundings;
    const schedule = drawSchedule(options, this.mode);
    const working = this.clients.map((client) => this.workload.run(client, this.stop.signal));
    await Promise.all([injector.run(schedule, this.stop.signal), sleep(options.seconds * 1_000)]);
    this.stop.abort();
    this.journal.note('the faults are over');
    this.endTimer = setTimeout(() => this.end.abort(), DRAIN_MS);
    await injector.end();
    await Promise.all(working);
  }

  /** Waits for the leases of those who died, and then asks for the result of every intent once more. */
  async drain(store: RecordStore): Promise<void> {
    await this.leasesOver(store);
    const queue = [...this.workload.intents];
    const confirmFromQueue = async (client: Client) => {
      for (let intent = queue.shift(); intent; intent = queue.shift()) await client.confirm(intent);
    };
    await Promise.all(this.clients.map(confirmFromQueue));
    await this.leasesOver(store);
    clearTimeout(this.endTimer);
    this.journal.note('the drain is over');
  }

  private async leasesOver(store: RecordStore): Promise<void> {
    while (!this.end.signal.aborted && (await store.countLiveLeases()) > 0) await sleep(200);
  }
}
