import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createServer } from 'node:net';

import { askApp, countStarts, FakeProject } from './fake-project.js';

// Starts and stops several processes, on a machine that may have other things to do.
jest.setTimeout(90_000);

describe('a launcher', () => {
  let project: FakeProject;

  beforeEach(async () => {
    project = await FakeProject.create();
  });

  afterEach(() => project.remove());

  it('prints the address of the app before any other, and a token', async () => {
    const launcher = project.launch({ PORT: '0' });
    const { pid } = await askApp(await launcher.address());
    expect(pid).toEqual(expect.any(Number));
    expect(launcher.stdout).toMatch(/Authorization: Bearer demo-alice/);
    await launcher.shown(/http:\/\/wrong\.example/);
  });

  it('keeps the data between runs, on another port of the database each time', async () => {
    const first = project.launch({ PORT: '0' });
    const { databaseUrl: firstUrl } = await askApp(await first.address());
    expect(await countStarts(firstUrl)).toBe(1);
    expect(await first.stop()).toBe(0);

    const second = project.launch({ PORT: '0' });
    const { databaseUrl: secondUrl } = await askApp(await second.address());
    expect(await countStarts(secondUrl)).toBe(2);
    expect(new URL(secondUrl).port).not.toBe(new URL(firstUrl).port);
  });

  it('takes the next free port when none is asked for', async () => {
    const occupied = createServer();
    // Somebody else may have it already, which is as good.
    await new Promise((resolve) => occupied.once('error', resolve).listen(3000, () => resolve(undefined)));
    const address = await project.launch().address();
    occupied.close();
    expect(Number(new URL(address).port)).toBeGreaterThan(3000);
    await expect(askApp(address)).resolves.toHaveProperty('pid');
  });

  it('stops the app first, and then the database', async () => {
    const launcher = project.launch({ PORT: '0' });
    await launcher.address();
    expect(await launcher.stop()).toBe(0);
    expect(launcher.stdout).toContain('The app stops, and its database is still there.');
    expect(await project.postmaster()).toBeUndefined();
  });

  it('takes the same Ctrl-C, from the terminal and from npm, as one, and the next one as an order', async () => {
    const launcher = project.launch({ PORT: '0', FAKE_APP: 'lingers' });
    const address = await launcher.address();
    launcher.signal('SIGINT');
    launcher.signal('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await expect(askApp(address)).resolves.toHaveProperty('pid');

    launcher.signal('SIGINT');
    expect(await launcher.exit()).toBe(0);
    await expect(askApp(address)).rejects.toThrow('fetch failed');
    expect(await project.postmaster()).toBeUndefined();
  });

  it('shares the database with another one, and leaves it to the one that stops last', async () => {
    const first = project.launch({ PORT: '0' });
    const { databaseUrl: firstUrl } = await askApp(await first.address());
    const second = project.launch({ PORT: '0' });
    const { databaseUrl: secondUrl } = await askApp(await second.address());
    expect(secondUrl).toBe(firstUrl);

    await first.stop();
    expect(await countStarts(secondUrl)).toBe(2);
    await second.stop();
    expect(await project.postmaster()).toBeUndefined();
  });
});
