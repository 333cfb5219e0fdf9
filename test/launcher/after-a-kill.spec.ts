import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';

import { askApp, countStarts, FakeProject } from './fake-project.js';
import type { LauncherProcess } from './launcher-process.js';

// Starts and stops several processes, on a machine that may have other things to do.
jest.setTimeout(90_000);

describe('after a SIGKILL', () => {
  let project: FakeProject;
  let launcher: LauncherProcess;
  let address: string;

  beforeEach(async () => {
    project = await FakeProject.create();
    launcher = project.launch({ PORT: '0' });
    address = await launcher.address();
  });

  afterEach(() => project.remove());

  /** Nothing is cleaned by hand: the same port and the same data folder are used again. */
  async function startAgain(): Promise<void> {
    const again = project.launch({ PORT: new URL(address).port });
    expect(await again.address()).toBe(address);
    await expect(askApp(address)).resolves.toHaveProperty('pid');
    expect(await again.stop()).toBe(0);
    expect(await project.postmaster()).toBeUndefined();
  }

  async function killPostmaster(): Promise<void> {
    process.kill((await project.postmaster())!, 'SIGKILL');
  }

  it('of the app, it is started again on the same port', async () => {
    const { pid } = await askApp(address);
    process.kill(pid, 'SIGKILL');
    const next = await eventually(() => askApp(address));
    expect(next.pid).not.toBe(pid);
  });

  it('of the launcher, the app goes, and the next start takes the database over', async () => {
    const postmaster = await project.postmaster();
    launcher.signal('SIGKILL');
    await launcher.exit();

    const next = project.launch({ PORT: new URL(address).port });
    await askApp(await next.address());
    expect(await project.postmaster()).toBe(postmaster);
    await next.stop();
    expect(await project.postmaster()).toBeUndefined();
  });

  it('of the whole process group, the next start works', async () => {
    launcher.signalGroup('SIGKILL');
    await launcher.exit();
    await startAgain();
  });

  it('of the process group and the database, the next start works', async () => {
    launcher.signalGroup('SIGKILL');
    await killPostmaster();
    await launcher.exit();
    await startAgain();
  });

  it('of everything, the next start works even when another process got the process id', async () => {
    launcher.signalGroup('SIGKILL');
    await killPostmaster();
    await launcher.exit();
    const stranger = spawn('sleep', ['60'], { ...(await project.databaseUser()), stdio: 'ignore' });
    const content = await readFile(project.postmasterFile, 'utf8');
    await writeFile(project.postmasterFile, content.replace(/^\d+/, String(stranger.pid)));

    await startAgain();
    expect(stranger.kill()).toBe(true);
  });

  it('of the database alone, it is started again under the same address', async () => {
    const { databaseUrl } = await askApp(address);
    expect(await countStarts(databaseUrl)).toBe(1);
    await killPostmaster();
    await expect(countStarts(databaseUrl)).rejects.toThrow();
    expect(await eventually(() => countStarts(databaseUrl))).toBe(1);
    expect(await launcher.stop()).toBe(0);
    expect(await project.postmaster()).toBeUndefined();
  });
});

async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + 20_000; ;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
