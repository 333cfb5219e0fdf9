import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { StreamableFile } from '@nestjs/common';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';

import { libraryTimers, watchTimers } from '../support/active-handles.js';
import { someoneWaitsForLock } from '../support/blocked-statements.js';
import { withClient } from '../support/database-client.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { newKey } from '../support/idempotent-app.js';
import { connectedClients, QUIET, watchLeftOvers } from '../support/left-overs.js';
import { onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type Script, type ScriptedApp } from '../support/scripted-app.js';

const MAX_RESPONSE_BYTES = 64 * 1024;

onEachAdapterInEachMode((adapter, mode) => {
  let app: ScriptedApp;
  let nothingIsLeft: () => Promise<void>;

  beforeAll(async () => {
    watchTimers();
    app = await startScriptedApp({
      ...QUIET,
      adapter,
      handler: { mode, maxResponseBytes: MAX_RESPONSE_BYTES, inFlight: { wait: '20s' } },
    });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await Promise.all([app.effects.clear(), app.records.clear()]);
    nothingIsLeft = watchLeftOvers(app);
  });

  const save: Script = () => app.effects.save({ name: 'order' });

  /** Sends a request. The returned function breaks its connection off, and waits until the app has noticed. */
  function begin(key = newKey()): () => Promise<void> {
    const client = new AbortController();
    const answer = app.post({ key, signal: client.signal });
    answer.catch(() => undefined);
    return async () => {
      const before = await connectedClients(app);
      client.abort();
      await expect(answer).rejects.toThrow('aborted');
      await eventually(async () => expect(await connectedClients(app)).toBeLessThan(before));
    };
  }

  /** Sends whatever follows the first lines of a request. */
  function post(...lines: string[]): Socket {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    const first = ['POST / HTTP/1.1', 'Host: localhost', `Idempotency-Key: ${newKey()}`];
    socket.write([...first, ...lines].join('\r\n'));
    return socket;
  }

  const isCarriedOut = async () => {
    expect(await app.effects.count()).toBe(1);
    expect(await app.records.find()).toMatchObject([{ status: 201 }]);
  };

  it('nothing is left of a client that leaves in the middle of its own request', async () => {
    app.handle(save);
    const arrival = once(app.app.getHttpServer(), 'request');
    const socket = post('Content-Type: application/json', 'Content-Length: 1000', '', '{"amount":');
    await arrival;
    socket.destroy();
    await nothingIsLeft();

    expect(app.executions()).toBe(0);
  });

  it('C34: nothing is left of a client that leaves before its key is claimed: its intent is carried out', async () => {
    app.handle(save);
    await withClient(app.database.url, async (client) => {
      await client.query('BEGIN; LOCK TABLE idempotency_records IN ACCESS EXCLUSIVE MODE');
      const leave = begin();
      await someoneWaitsForLock(client);
      await leave();
    });
    await eventually(isCarriedOut);
    await nothingIsLeft();
  });

  it('C34: nothing is left of a client that leaves while its handler runs, and one that waits for its result', async () => {
    const gate = new Gate();
    gate.close();
    app.handle(async (input) => {
      await gate.pass();
      return save(input);
    });
    const key = newKey();
    const leave = begin(key);
    await gate.arrival();
    const leaveLater = begin(key);
    await eventually(() => expect(libraryTimers()).toContain('engine/back-off.ts'));
    await leave();
    await leaveLater();
    gate.open();
    await eventually(isCarriedOut);
    await nothingIsLeft();
  });

  it('C34: nothing is left of a client that leaves while its answer is held back until it is recorded', async () => {
    await withClient(app.database.url, async (client) => {
      app.handle(async (input) => {
        await save(input);
        // Reads go on, so the claim is done and its record cannot be written.
        await client.query('BEGIN; LOCK TABLE idempotency_records IN SHARE MODE');
        return 'created';
      });
      const leave = begin();
      await someoneWaitsForLock(client);
      await leave();
    });
    await eventually(isCarriedOut);
    await nothingIsLeft();
  });

  it('C34: nothing is left of a client that leaves while its answer is produced', async () => {
    const gate = new Gate();
    gate.close();
    let source: Readable | undefined;
    app.handle(async (input) => {
      await save(input);
      source = Readable.from(linesAround(gate));
      return new StreamableFile(source);
    });
    const leave = begin();
    await gate.arrival();
    await leave();
    gate.open();
    await nothingIsLeft();

    expect(source?.closed).toBe(true);
  });

  it('C34: nothing is left of a client that leaves in the middle of its answer', async () => {
    let source: Readable | undefined;
    app.handle(async (input) => {
      await save(input);
      source = Readable.from(endless());
      return new StreamableFile(source);
    });
    const socket = post('Content-Length: 0', '', '');
    await once(socket, 'data');
    socket.destroy();
    await nothingIsLeft();

    expect(source?.destroyed).toBe(true);
    expect(await app.effects.count()).toBe(1);
    expect(await app.records.find()).toMatchObject([{ status: null, completedAt: expect.any(Date) }]);
  });
});

async function* linesAround(gate: Gate) {
  yield 'one ';
  await gate.pass();
  yield 'two';
}

function* endless() {
  for (;;) yield Buffer.alloc(MAX_RESPONSE_BYTES / 4);
}
