import { MariaDbIdempotencyStore } from '@exactly-once/nestjs';
import { idempotencyStoreContract } from '@exactly-once/nestjs/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';

import { newClaim } from '../../libs/idempotency/src/testing/store-contract/world.js';
import { MariaDbServer } from './mariadb-server.js';
import { moveClock } from './move-clock.js';
import { describeWithMariaDb } from './with-mariadb.js';

/** What an application and its server may be set to, all at once. */
const SETTINGS = [
  {
    title: 'READ COMMITTED, another time zone, quotes of ANSI, latin1, numbers and dates in other forms',
    flags: [
      '--transaction-isolation=READ-COMMITTED',
      '--default-time-zone=+11:30',
      '--sql-mode=ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,EMPTY_STRING_IS_NULL,STRICT_ALL_TABLES',
      '--character-set-server=latin1',
    ],
    options: {
      type: 'mysql',
      charset: 'latin1_swedish_ci',
      timezone: '-08:00',
      dateStrings: true,
      supportBigNumbers: false,
      bigNumberStrings: false,
      extra: { flags: ['-FOUND_ROWS'], namedPlaceholders: true, decimalNumbers: true },
    },
  },
  {
    title: 'SERIALIZABLE, no strict mode, snapshots that refuse late writes, a pool of one connection',
    flags: ['--transaction-isolation=SERIALIZABLE', '--sql-mode=', '--innodb-snapshot-isolation=ON'],
    options: {
      poolSize: 1,
      extra: { typeCast: () => 'somebody else', multipleStatements: true, stringifyObjects: true },
    },
  },
];

describeWithMariaDb('a store on MariaDB keeps its contract, whatever is set:', () => {
  describe.each(SETTINGS)('$title', ({ flags, options }) => {
    let server: MariaDbServer;
    /** Of the application. */
    let dataSource: DataSource;
    /** Of the test. */
    let direct: DataSource;

    beforeAll(async () => {
      server = await MariaDbServer.start(...flags);
      direct = await server.connect();
      dataSource = await server.connect({ ...options, migrationsRun: false });
    }, 60_000);
    afterAll(async () => {
      await dataSource?.destroy();
      await direct?.destroy();
      await server?.stop();
    });

    const cases = idempotencyStoreContract(() => new MariaDbIdempotencyStore(dataSource), {
      passTime: (milliseconds) => moveClock(direct, milliseconds),
    });
    for (const { name, run } of cases) it(name, run);

    it('it starts', () => new MariaDbIdempotencyStore(dataSource).open());

    it('its clock is that of the server, in universal time', async () => {
      const store = new MariaDbIdempotencyStore(dataSource);
      const claim = newClaim({ lockTtl: 300 });
      await store.claim(claim);
      const seen = await store.inspect(claim.id, 5_000);
      expect(Math.abs(Date.now() - seen!.createdAt.getTime())).toBeLessThan(2_000);
      expect(seen!.lockExpiresAt!.getTime() - seen!.createdAt.getTime()).toBe(300);
      await sleep(350);
      expect((await store.inspect(claim.id, 5_000))?.state).toBe('abandoned');
    });

    it('keys of 255 characters that differ in case or accents are different keys, and readable', async () => {
      const store = new MariaDbIdempotencyStore(dataSource);
      const claims = ['k', 'K', 'é', 'e', 'ß', '\u{1F96A}', "'", '\\', '\u0000'].map((end) =>
        newClaim({ key: 'x'.repeat(253) + end, scope: 'Århus \u{1F96A}' }),
      );
      for (const claim of claims) expect((await store.claim(claim)).type).toBe('claimed');
      for (const { id, key, scope } of claims) {
        expect(await store.inspect(id, 5_000)).toMatchObject({ key, scope });
        const [row] = await direct.query('SELECT `key`, scope FROM idempotency_records WHERE id = ?', [id]);
        expect({ ...row }).toEqual({ key, scope });
      }
    });
  });
});
