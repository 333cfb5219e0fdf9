import { IdempotencyErrorCode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { Client } from 'pg';

import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  anchors,
  DOCUMENTS,
  fencedBlocks,
  fillIn,
  links,
  PROJECT,
  read,
  rowsOf,
  sectionOf,
} from './markdown.js';
import { optionDefaults } from './option-defaults.js';
import { ANSWERS, ERRORS, OTHER_ERRORS } from './problem-examples.js';

/** What only a request can be answered with. */
const ONLY_HTTP: ReadonlySet<string> = new Set([
  IdempotencyErrorCode.KeyRequired,
  IdempotencyErrorCode.BodyUnparsed,
  IdempotencyErrorCode.ResponseUnavailable,
]);

const plain = (cell: string): string => cell.replaceAll('`', '');

describe('README.md', () => {
  const readme = read('README.md');

  it('has fewer than 200 lines', () => {
    expect(readme.split('\n').length).toBeLessThan(200);
  });

  it('lists every option with the default that the code gives it', () => {
    const listed = rowsOf(sectionOf(readme, '## Options')).map(
      ([name, value]) => [plain(name!), plain(value!)] as const,
    );
    const defaults = optionDefaults();
    expect(listed.map(([name]) => name).toSorted()).toEqual([...defaults.keys()].toSorted());
    for (const [name, value] of listed) {
      expect({ name, value: defaults.get(name) ?? value }).toEqual({ name, value });
    }
  });

  it('lists every answer with its status', () => {
    const listed = rowsOf(sectionOf(readme, '## Answers'))
      .filter(([status]) => /^\d/.test(status!))
      .flatMap(([statuses, code]) => statuses!.split(', ').map((status) => `${status} ${plain(code!)}`));
    const given = Object.values(ERRORS).map((error) => `${error.getStatus()} ${error.code}`);
    // A permanent fault has the same code and no `Retry-After`.
    given.push(`500 ${IdempotencyErrorCode.NotCommitted}`);
    expect(listed.toSorted()).toEqual(given.toSorted());
  });
});

describe('docs/options.md', () => {
  it('has a section for every option, which says its default', () => {
    const sections = new Map(
      read('docs/options.md')
        .split('\n### ')
        .slice(1)
        .map((section) => [plain(section.split('\n', 1)[0]!), plain(section)]),
    );
    for (const [name, value] of optionDefaults()) {
      expect(sections.get(name)).toContain(value ?? '');
    }
  });
});

describe('docs/answers.md', () => {
  it('shows every error', () => {
    const shown = fencedBlocks(read('docs/answers.md')).filter(({ language }) => language === 'json');
    expect(shown.map(({ subject }) => subject).toSorted()).toEqual(Object.keys(ERRORS).toSorted());
    expect(Object.values(ERRORS).map(({ name }) => name)).toEqual(expect.arrayContaining([...ANSWERS]));
  });

  it('lists every error that is no answer', () => {
    const listed = rowsOf(sectionOf(read('docs/answers.md'), '## Errors that are no answers'));
    expect(listed.map(([name]) => plain(name!)).toSorted()).toEqual(OTHER_ERRORS.toSorted());
  });
});

describe('docs/outside-http.md', () => {
  it('says what every error means to a consumer', () => {
    const named = rowsOf(sectionOf(read('docs/outside-http.md'), '## Errors'))
      .flatMap(([names]) => plain(names!).split(', '))
      .filter((name) => name.endsWith('Error'));
    const thrown = Object.values(ERRORS)
      .filter(({ code }) => !ONLY_HTTP.has(code))
      .map(({ name }) => name);
    thrown.push('IdempotencyRecordedFailureError', 'IdempotencyConfigurationError');
    expect(named.toSorted()).toEqual(thrown.toSorted());
  });
});

describe('docs/dependencies.md', () => {
  it.each([
    ['libs/idempotency', '## The library: `libs/idempotency`'],
    ['libs/redis', '## The Redis store: `libs/redis`'],
    ['libs/client', '## The client: `libs/client`'],
    ['apps/orders', '## The sample app: `apps/orders`'],
    ['apps/mock-payments', '## The mock: `apps/mock-payments`'],
    ['.', '## The workspace'],
  ])('says of every package of %s why it is there, and of no other', (folder, heading) => {
    const manifest = JSON.parse(read(`${folder}/package.json`)) as Record<string, Record<string, string>>;
    const named = ['dependencies', 'peerDependencies', 'devDependencies'].flatMap((kind) =>
      Object.keys(manifest[kind] ?? {}),
    );
    const explained = rowsOf(sectionOf(read('docs/dependencies.md'), heading));
    const packages = explained.flatMap(([names]) => plain(names!).split(', '));
    expect(packages.toSorted()).toEqual(named.toSorted());
  });
});

describe.each(DOCUMENTS)('%s', (path) => {
  const markdown = read(path);

  it('shows its samples as they are; `npx tsx test/docs/fill-in.ts` puts them in', () => {
    expect(markdown).toBe(fillIn(markdown));
  });

  it('has links that lead somewhere', () => {
    const dead = links(markdown)
      .filter((target) => !/^https?:/.test(target))
      .filter((target) => {
        const [file, anchor] = target.split('#');
        const linked = file ? normalize(join(dirname(path), file)) : path;
        return (
          !existsSync(join(PROJECT, linked)) ||
          (anchor !== undefined && !anchors(read(linked)).includes(anchor))
        );
      });
    expect(dead).toEqual([]);
  });
});

describe('the SQL of docs/postgres.md', () => {
  const statements = fencedBlocks(read('docs/postgres.md')).filter(({ language }) => language === 'sql');
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
  });

  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  it.each(statements.map(({ content }) => [content.split('\n', 1)[0], content]))(
    'runs: %s',
    async (_, sql) => {
      await expect(client.query(sql!)).resolves.toBeDefined();
    },
  );
});
