import { describe, expect, it } from '@jest/globals';

import { branchesOf, type Branch, type CoverageReport } from './branches.js';
import { obsoleteReasons, reasonFor } from './reasons.js';
import { percentOf, sharesBy } from './shares.js';
import { hasTypesOnly } from './types-only.js';

const SOURCE = 'one();\n  if (two) {\n    three();\n  }\n';

const REPORT: CoverageReport = {
  '/project/libs/a.ts': {
    branchMap: {
      0: { locations: [{ start: { line: 2 } }] },
      1: { locations: [{ start: { line: 1 } }, { start: { line: 3 } }] },
    },
    b: { 0: [0], 1: [4, 1] },
  },
};

function branch(file: string, text: string, reached: boolean): Branch {
  return { file, text, reached, line: 1 };
}

function reportAt(line: number): CoverageReport {
  return { '/project/a.ts': { branchMap: { 0: { locations: [{ start: { line } }] } }, b: { 0: [0] } } };
}

describe('the branches of a report', () => {
  it('are listed by line, with their source text and whether they were reached', () => {
    expect(branchesOf(REPORT, '/project', () => SOURCE)).toEqual([
      { file: 'libs/a.ts', line: 1, text: 'one();', reached: true },
      { file: 'libs/a.ts', line: 2, text: 'if (two) {', reached: false },
      { file: 'libs/a.ts', line: 3, text: 'three();', reached: true },
    ]);
  });
});

describe('the text of a branch', () => {
  it('has the line before when its own begins with a brace', () => {
    const source = 'try {\n  work();\n} finally {\n  if (a) {\n    b();\n  }\n}';
    const textAt = (line: number) => branchesOf(reportAt(line), '/project', () => source)[0]!.text;
    expect(textAt(3)).toBe('work(); } finally {');
    expect(textAt(4)).toBe('if (a) {');
    expect(textAt(7)).toBe('b(); } }');
  });
});

describe('a reason', () => {
  const reasons = { 'libs/a.ts': { 'if (two) {': 'Two is never set.' } };

  it('belongs to a file and the text of a line', () => {
    expect(reasonFor(branch('libs/a.ts', 'if (two) {', false), reasons)).toBe('Two is never set.');
    expect(reasonFor(branch('libs/a.ts', 'if (three) {', false), reasons)).toBeUndefined();
    expect(reasonFor(branch('libs/b.ts', 'if (two) {', false), reasons)).toBeUndefined();
  });

  it('is not needed when its branch is reached or gone', () => {
    expect(obsoleteReasons([branch('libs/a.ts', 'if (two) {', false)], reasons)).toEqual([]);
    expect(obsoleteReasons([branch('libs/a.ts', 'if (two) {', true)], reasons)).toEqual([
      'libs/a.ts: if (two) {',
    ]);
    expect(obsoleteReasons([], reasons)).toEqual(['libs/a.ts: if (two) {']);
  });
});

describe('the share of a group', () => {
  it('counts the branches that are reached, and leaves out what is in no group', () => {
    const branches = [
      branch('a', '', true),
      branch('a', '', true),
      branch('a', '', false),
      branch('b', '', true),
    ];
    const shares = sharesBy(branches, ({ file }) => (file === 'a' ? 'group' : undefined));
    expect(shares).toEqual([{ name: 'group', reached: 2, all: 3 }]);
    expect(percentOf(shares[0]!)).toBeCloseTo(66.67);
  });
});

describe('a file', () => {
  it('has types only when nothing of it is left at run time', () => {
    expect(hasTypesOnly('libs/idempotency/src/store/claim.ts')).toBe(true);
    expect(hasTypesOnly('libs/idempotency/src/index.ts')).toBe(false);
  });
});
