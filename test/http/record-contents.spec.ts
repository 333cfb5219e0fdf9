import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

const DAY = 24 * 60 * 60 * 1_000;

onEachAdapter((adapter) => {
  describe.each(['transaction', 'lease'] as const)('in %s mode', (mode) => {
    let app: ScriptedApp;

    beforeAll(async () => {
      app = await startScriptedApp({ adapter, handler: { mode } });
    });
    afterAll(() => closeClean(app));
    beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

    it('a record says who, what and which in clear, and keeps what the client got', async () => {
      const key = newKey();
      const answer = await app.run(
        ({ response }) => {
          response.header('X-Order', '7');
          return { id: 7 };
        },
        { key, headers: { 'X-User': 'anna' } },
      );
      const record = await app.records.findOneByOrFail({});

      expect(record).toMatchObject({ scope: 'anna', operation: 'POST /', key, attempt: 1, status: 201 });
      expect(record.owner).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect([record.id.length, record.fingerprint.length]).toEqual([32, 32]);
      expect(record.body!.equals(answer.body)).toBe(true);
      expect(JSON.parse(record.headers!)).toMatchObject({ 'x-order': '7' });
      expect(record.expiresAt.getTime() - record.completedAt!.getTime()).toBe(DAY);
    });

    it('a record in progress is there in lease mode alone, and has no response', async () => {
      const key = newKey();
      const answer = await app.run(
        async () => {
          const [row] = await new Promise<any[]>((resolve, reject) => {
            // Out of the request's transaction, which would see its own rows.
            const runner = app.dataSource.driver.createQueryRunner('master');
            runner
              .query('SELECT *, lock_expires_at > now() AS live FROM idempotency_records')
              .then(resolve, reject)
              .finally(() => runner.release());
          });
          return row ?? 'none';
        },
        { key },
      );

      if (mode === 'transaction') {
        expect(answer.text).toBe('none');
      } else {
        expect(answer.json()).toMatchObject({
          key,
          live: true,
          completed_at: null,
          status: null,
          body: null,
        });
      }
    });

    it('what JSON columns would change or refuse is kept: the order of keys, and NUL', async () => {
      const key = newKey();
      const first = await app.run(
        () => ({ z: 1, a: '\u0000', 10: 'ten', 9: 'nine', big: 1e21, dup: { b: 1, a: 2 } }),
        { key },
      );
      const second = await app.post({ key });

      expect(second.headers['idempotent-replayed']).toBe('true');
      expect(second.body.equals(first.body)).toBe(true);
    });

    it('no scope and no key is too long for it', async () => {
      const key = 'k'.repeat(255);
      const headers = { 'X-User': 'a tenant '.repeat(800).trim() };
      const first = await app.run(() => app.effects.save({ name: 'order' }), { key, headers });
      const second = await app.post({ key, headers });

      expect(first.status).toBe(201);
      expect(second.headers['idempotent-replayed']).toBe('true');
      expect((await app.records.findOneByOrFail({})).scope).toBe(headers['X-User']);
    });

    it('text that would end a string in SQL is kept as it is', async () => {
      const key = `it's; "quoted" \\ '' $1 %s --`;
      const quoted = `"${key.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
      const headers = { 'X-User': `o'neill \\'; DROP TABLE effects; --` };
      const first = await app.run(() => app.effects.save({ name: 'order' }), { key: quoted, headers });
      const second = await app.post({ key: quoted, headers });

      expect(first.status).toBe(201);
      expect(second.body.equals(first.body)).toBe(true);
      expect(await app.records.findOneByOrFail({})).toMatchObject({ key, scope: headers['X-User'] });
    });
  });
});
