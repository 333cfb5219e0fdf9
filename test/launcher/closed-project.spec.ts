import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { rm } from 'node:fs/promises';

import { askApp, countStarts, FakeProject } from './fake-project.js';

// Starts and stops several processes, on a machine that may have other things to do.
jest.setTimeout(90_000);

// Only root needs another user for Postgres, which may then be locked out of the project.
const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? describe : describe.skip;
if (!isRoot)
  process.stdout.write('SKIPPED closed-project.spec.ts: only root needs another user for Postgres.\n');

asRoot('a launcher of root, in a folder that no other user can enter', () => {
  let project: FakeProject;
  let refuge: string | undefined;

  beforeEach(async () => {
    project = await FakeProject.create({ closed: true });
  });

  afterEach(async () => {
    await project.remove();
    if (refuge) await rm(refuge, { recursive: true, force: true });
  });

  it('keeps the data in another folder, says where, and finds them again', async () => {
    const first = project.launch({ PORT: '0' });
    await first.address();
    refuge = await first.shown(/(?<=data in )\S*exactly-once-[^/]+/);
    expect(refuge).not.toContain(project.folder);
    expect(await first.stop()).toBe(0);

    const second = project.launch({ PORT: '0' });
    const { databaseUrl } = await askApp(await second.address());
    expect(await countStarts(databaseUrl)).toBe(2);
    expect(await second.stop()).toBe(0);
  });
});
