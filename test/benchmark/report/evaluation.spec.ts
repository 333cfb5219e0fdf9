import { describe, expect, it } from '@jest/globals';

import type { Measurement, Sample } from '../measure/sample.js';
import { disturbedRounds } from './disturbance.js';
import { Evaluation } from './evaluation.js';
import { figureRows, ratioLines } from './figures.js';

const ofRates = (contestant: string, rates: number[], more: Partial<Measurement> = {}): Measurement => ({
  case: 'S1',
  adapter: 'express',
  connections: 64,
  bodyBytes: 32,
  contestant,
  samples: rates.map((requestsPerSecond) => ({ requestsPerSecond })),
  ...more,
});

describe('an evaluation', () => {
  it('compares within each round, since the machine changes its speed from one to the next', () => {
    const bare = ofRates('bare', [100, 200, 400]);
    const lease = ofRates('lease', [50, 120, 280]);
    expect(new Evaluation([]).ratio(lease, bare, 'requestsPerSecond')).toEqual({
      median: 0.6,
      min: 0.5,
      max: 0.7,
    });
  });

  it('leaves a round out in which something else took the machine from one of the two', () => {
    const bare = ofRates('bare', [100, 100, 100, 100]);
    const samples: Sample[] = [0.02, 0.03, 0.4, 0.01].map((foreign, round) => ({
      foreign,
      requestsPerSecond: round === 2 ? 10 : 80,
    }));
    const lease = ofRates('lease', [], { samples });
    const evaluation = new Evaluation([bare, lease]);
    expect(evaluation.ratio(lease, bare, 'requestsPerSecond')).toEqual({ median: 0.8, min: 0.8, max: 0.8 });
    expect([...disturbedRounds(lease)]).toEqual([2]);
  });

  it('keeps all rounds where too few would be left', () => {
    const samples: Sample[] = [0.02, 0.03, 0.4].map((foreign) => ({ foreign, requestsPerSecond: 1 }));
    expect(disturbedRounds(ofRates('lease', [], { samples })).size).toBe(0);
  });

  it('prints a line for each figure that was measured, of the first number of connections', () => {
    const lines = ratioLines(
      new Evaluation([
        ofRates('bare', [100]),
        ofRates('lease', [50]),
        ofRates('bare', [100], { adapter: 'fastify' }),
        ofRates('lease', [41], { adapter: 'fastify' }),
        ofRates('bare', [100], { connections: 8 }),
        ofRates('lease', [99], { connections: 8 }),
      ]),
    );
    expect(lines).toEqual([
      'RATIO S1 lease bare 0.50 0.50 0.50',
      'RATIO S1 lease-fastify bare-fastify 0.41 0.41 0.41',
    ]);
  });

  it('says whether a figure is reached, and less is better for the time of a duplicate', () => {
    const duplicates = (contestant: string, duplicateMedian: number): Measurement =>
      ofRates(contestant, [], { case: 'S4', samples: [{ duplicateMedian }] });
    const rows = figureRows(
      new Evaluation([
        ofRates('bare', [100]),
        ofRates('lease', [50]),
        duplicates('lease', 20),
        duplicates('lease-unbatched', 100),
      ]),
    );
    expect(rows).toEqual([
      ['S1', 'express', 'lease / bare', '0.50', '≥ 0.60', 'no'],
      ['S4', 'express', 'lease / lease-unbatched, time of a duplicate', '0.20', '≤ 0.50', 'yes'],
    ]);
  });
});
