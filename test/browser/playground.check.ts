import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

import { LauncherProcess } from '../launcher/launcher-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { findChromium } from './chromium.js';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const SCREENSHOTS = fileURLToPath(new URL('../../.reports/browser', import.meta.url));

let database: TestDatabase;
let client: Client;
let launcher: LauncherProcess;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let url: string;
let faults: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  launcher = new LauncherProcess(['dist/main.js'], PROJECT, { DATABASE_URL: database.url });
  url = (await launcher.shown(/Playground\s+http:\S+/)).split(/\s+/)[1]!;
  browser = await chromium.launch({ executablePath: findChromium()!, args: ['--no-sandbox'] });
  await mkdir(SCREENSHOTS, { recursive: true });
}, 60_000);
afterAll(async () => {
  await browser.close();
  await launcher.stop();
  await client.end();
  await database.drop();
});
beforeEach(async () => {
  context = await browser.newContext();
  faults = [];
  page = await open();
});
afterEach(() => context.close());

/** A new tab. What it reports as wrong is collected. */
async function open(): Promise<Page> {
  const tab = await context.newPage();
  tab.on('pageerror', (error) => faults.push(String(error)));
  tab.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) faults.push(message.text());
  });
  await tab.goto(url);
  await eventually(async () => expect(await tab.locator('#stock').textContent()).toMatch(/^\d+$/));
  return tab;
}

async function count(sql: string): Promise<number> {
  return Number((await client.query(sql)).rows[0].count);
}

const orders = () => count('SELECT count(*) FROM orders');

const kills = () => launcher.stderr.split('The app has ended with SIGKILL. It is started again.').length - 1;

async function press(scenario: string, tab = page): Promise<void> {
  await tab.getByLabel(scenario, { exact: true }).check();
  await tab.getByRole('button', { name: 'Order one' }).click();
}

async function verdict(pattern: RegExp, tab = page): Promise<void> {
  await eventually(async () => expect(await tab.locator('#verdict').textContent()).toMatch(pattern), 45_000);
}

/** The rows of the time line, the oldest first; each with its answer, code, whether it was replayed, and its bytes. */
async function attempts(tab = page): Promise<string[][]> {
  const rows = await tab.locator('#attempts tr').all();
  const texts = await Promise.all(rows.map((row) => row.locator('td').allTextContents()));
  return texts
    .toReversed()
    .map(([, , , answer, code, replayed, bytes]) => [answer!, code!, replayed!, bytes!]);
}

describe('the playground', () => {
  it('places one order', async () => {
    const before = await orders();
    await press('Nothing');
    await verdict(/^Ordered, after one attempt\.$/);

    expect(await orders()).toBe(before + 1);
    expect(await attempts()).toEqual([['201', '', 'no', expect.stringMatching(/^\d+ bytes$/)]]);
    await eventually(async () =>
      expect(await page.locator('#order-count').textContent()).toBe(String(before + 1)),
    );
    expect(await page.locator('#records tr').first().textContent()).toContain('completed');
    expect(faults).toEqual([]);
  });

  it('places one order when the button is pressed twice quickly', async () => {
    const before = await orders();
    await page.getByRole('button', { name: 'Order one' }).dblclick();
    await eventually(async () => expect((await attempts()).at(-1)).toContain('yes'));

    expect(await orders()).toBe(before + 1);
    const answers = await attempts();
    expect(
      answers.filter(([, , replayed]) => replayed === 'no' && answers.length > 1).length,
    ).toBeGreaterThan(0);
  });

  it('shows that a double-click is one order', async () => {
    const before = await orders();
    await press('Double-click');
    await verdict(/first answer again/);

    expect(await orders()).toBe(before + 1);
    const answers = await attempts();
    expect(answers.filter(([answer, , replayed]) => answer === '201' && replayed === 'no')).toHaveLength(1);
    expect(answers.filter(([answer, , replayed]) => answer === '201' && replayed === 'yes')).toHaveLength(1);
    await eventually(async () =>
      expect(
        (await attempts())
          .filter(([answer]) => answer === '201')
          .map(([, , replayed, bytes]) => `${replayed} ${bytes}`),
      ).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^no \d+ bytes$/),
          expect.stringMatching(/^yes \d+ bytes, equal$/),
        ]),
      ),
    );
  });

  it('loses a response, and the retry gets it', async () => {
    const before = await orders();
    await press('Lose the response');
    await verdict(/^Ordered, after 2 attempts, and this is the first answer again\.$/);

    expect(await orders()).toBe(before + 1);
    expect(await attempts()).toEqual([
      ['lost', '', '–', ''],
      ['201', '', 'yes', expect.stringMatching(/^\d+ bytes$/)],
    ]);
  });

  it('gives up on a slow server, and gets its answer in the end', async () => {
    const before = await orders();
    await press('Slow server (10 s), client gives up after 3 s');
    await verdict(/^Ordered, after \d+ attempts, and this is the first answer again\.$/);

    expect(await orders()).toBe(before + 1);
    const answers = await attempts();
    expect(answers[0]).toEqual(['gave up', '', '–', '']);
    expect(answers.slice(1, -1).every(([, code]) => code === 'IDEMPOTENCY_KEY_IN_USE')).toBe(true);
    expect(answers.at(-1)!.slice(0, 3)).toEqual(['201', '', 'yes']);
  }, 60_000);

  it('refuses another body under the same key', async () => {
    const before = await orders();
    await press('Change the body under the same key');
    await verdict(/422 IDEMPOTENCY_KEY_REUSED/);

    expect(await orders()).toBe(before + 1);
    expect((await attempts()).map(([answer]) => answer)).toEqual(['201', '422']);
  });

  it('refuses an order without a key', async () => {
    const before = await orders();
    await press('No key');
    await verdict(/400 IDEMPOTENCY_KEY_REQUIRED/);

    expect(await orders()).toBe(before);
  });

  it('kills the server in mid-order, and the order is made once', async () => {
    const [before, killed] = [await orders(), kills()];
    await press('Kill the server in mid-order');
    await verdict(/^Ordered, after \d+ attempts/);

    expect(await orders()).toBe(before + 1);
    expect((await attempts())[0]).toEqual(['lost', '', '–', '']);
    expect(kills()).toBe(killed + 1);
  }, 60_000);

  it('kills the server also while it is slow, and the order is made once', async () => {
    const [before, killed] = [await orders(), kills()];
    await press('Slow server (10 s), client gives up after 3 s');
    await eventually(async () => expect(await attempts()).toHaveLength(1));
    await press('Kill the server in mid-order');
    await eventually(() => expect(kills()).toBe(killed + 1), 5_000);
    await verdict(/^Ordered, after \d+ attempts.*\.$/);

    expect((await attempts())[0]).toEqual(['lost', '', '–', '']);
    await eventually(async () =>
      expect(await page.locator('#verdict').textContent()).not.toMatch(/under way/),
    );
    expect(await orders()).toBe(before + 1);
  }, 60_000);

  it('kills the server while it is slow with the order of another tab, and both orders are made once', async () => {
    const [before, killed] = [await orders(), kills()];
    const other = await open();
    await press('Slow server (10 s), client gives up after 3 s', other);
    await eventually(async () => expect(await attempts(other)).toHaveLength(1));
    await press('Kill the server in mid-order');
    await eventually(() => expect(kills()).toBe(killed + 1), 5_000);
    await Promise.all([verdict(/^Ordered/), verdict(/^Ordered/, other)]);

    expect((await attempts(other))[0]).toEqual(['lost', '', '–', '']);
    expect(await orders()).toBe(before + 2);
  }, 60_000);

  it('goes on with the same key after a reload in the middle', async () => {
    const before = await orders();
    await press('Slow server (10 s), client gives up after 3 s');
    await eventually(async () => expect(await attempts()).toHaveLength(1));
    const key = await page.locator('#attempts code').first().textContent();
    await page.reload();
    await press('Nothing');
    await verdict(/^Ordered/);

    expect(await page.locator('#attempts code').first().textContent()).toBe(key);
    expect(await orders()).toBe(before + 1);
  }, 60_000);

  it('does not mix two tabs', async () => {
    const before = await orders();
    const other = await open();
    await Promise.all([press('Lose the response'), press('Lose the response', other)]);
    await Promise.all([verdict(/^Ordered/), verdict(/^Ordered/, other)]);

    expect(await orders()).toBe(before + 2);
  });

  it.each([
    ['wide, light', { width: 1440, height: 1000 }, 'light'],
    ['wide, dark', { width: 1440, height: 1000 }, 'dark'],
    ['phone, light', { width: 390, height: 844 }, 'light'],
    ['phone, dark', { width: 390, height: 844 }, 'dark'],
  ] as const)('fits its window: %s', async (name, viewport, colorScheme) => {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await press('Double-click');
    await verdict(/first answer again/);
    await page.screenshot({ path: `${SCREENSHOTS}/${name.replace(', ', '-')}.png`, fullPage: true });

    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(overflow).toBe(0);
  });

  it('can be used with the keyboard alone', async () => {
    const before = await orders();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).toBe('order');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate('document.activeElement.value')).toBe('double-click');
    await page.keyboard.press('Enter');
    await verdict(/first answer again/);

    expect(await orders()).toBe(before + 1);
  });

  it('is for this machine and this page alone', async () => {
    const { host } = new URL(url);
    const foreign = await fetch(url, { headers: { Origin: 'http://elsewhere.example' } });
    const policy = (await fetch(url)).headers.get('content-security-policy');

    expect(foreign.status).toBe(403);
    expect(policy).toContain("default-src 'none'");
    expect(host).toMatch(/^localhost:/);
  });
});
