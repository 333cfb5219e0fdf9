import { expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { describeWithRedis } from '../redis/with-redis.js';
import { PROJECT } from './project.js';

const TIME_LIMIT = 300_000;

interface ChaosEnd {
  code: number;
  output: string;
  /** As the last line of a run counts them. */
  counts: Record<string, number>;
}

/** A run of the harness as `npm run chaos` starts it. What it prints is shown when a check fails. */
async function chaos(options: string): Promise<ChaosEnd> {
  const args = ['run', '--silent', 'chaos', '--', ...options.split(' ')];
  const { code, output } = await promisify(execFile)('npm', args, { cwd: PROJECT, timeout: TIME_LIMIT }).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    (error) => ({ code: Number(error.code), output: `${error.stdout}${error.stderr}` }),
  );
  const verdict = /^intents .*$/m.exec(output)?.[0] ?? '';
  const counts = Object.fromEntries(
    Array.from(verdict.matchAll(/(\w+) (\d+)/g), ([, name, count]) => [name!, Number(count)]),
  );
  return { code, output, counts };
}

it(
  'twenty seconds with all faults: nothing twice, nothing lost',
  async () => {
    const { code, output, counts } = await chaos('--seconds 20 --seed 1');

    expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
    expect(counts).toMatchObject({ duplicates: 0, lost: 0, mismatched: 0, stuck: 0 });
    expect(counts['intents']).toBeGreaterThan(100);
    expect(output).toMatch(/^kill \d+ \([1-9]\d* in flight\)$/m);
    expect(output).toMatch(/^cut \d+ \([1-9]\d* in COMMIT\)/m);
  },
  TIME_LIMIT,
);

it(
  'without the unique key the checks find duplicates',
  async () => {
    const { code, counts } = await chaos(
      '--break unique-key --mode transaction --seconds 8 --seed 1 --faults kill',
    );

    expect(code).toBe(1);
    expect(counts['duplicates']).toBeGreaterThan(0);
  },
  TIME_LIMIT,
);

it(
  'without fencing the checks find duplicates',
  async () => {
    const { code, counts } = await chaos(
      '--break fencing --mode lease --seconds 20 --seed 1 --faults kill,stall',
    );

    expect(code).toBe(1);
    expect(counts['duplicates']).toBeGreaterThan(0);
  },
  TIME_LIMIT,
);

describeWithRedis('With the records in Redis', () => {
  it(
    'twenty seconds with all faults: nothing twice, nothing lost',
    async () => {
      const { code, output, counts } = await chaos('--store redis --seconds 20 --seed 1');

      expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
      expect(counts).toMatchObject({ duplicates: 0, lost: 0, mismatched: 0, stuck: 0 });
      expect(counts['intents']).toBeGreaterThan(50);
      expect(output).toMatch(/^cut \d+ \([1-9]\d* in a write of a lease\)$/m);
      expect(output).toMatch(/^restart \d+ \([1-9]\d* in flight\)$/m);
    },
    TIME_LIMIT,
  );

  it(
    'when it forgets the records, the checks find refunds that were made twice',
    async () => {
      const { code, output, counts } = await chaos(
        '--store redis --persistence off --seconds 15 --seed 1 --faults restart',
      );

      expect(code).toBe(1);
      expect(counts['duplicates']).toBeGreaterThan(0);
      expect(output).toMatch(/\d refunds at the gateway/);
    },
    TIME_LIMIT,
  );

  it(
    'without fencing the checks find duplicates',
    async () => {
      const { code, counts } = await chaos(
        '--store redis --break fencing --seconds 20 --seed 1 --faults kill,stall',
      );

      expect(code).toBe(1);
      expect(counts['duplicates']).toBeGreaterThan(0);
    },
    TIME_LIMIT,
  );
});
