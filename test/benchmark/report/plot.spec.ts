import { describe, expect, it } from '@jest/globals';

import { drawPlot } from './plot.js';

describe('a plot', () => {
  it('has a point for each value, and the same distance between equal ratios', () => {
    const points = [
      { x: 1, y: 10 },
      { x: 8, y: 100 },
      { x: 64, y: 1_000 },
    ];
    const picture = drawPlot({ title: 't', xLabel: 'x', yLabel: 'y', series: [{ name: 'lease', points }] });

    const circles = [...picture.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)];
    const [first, second, third] = circles.map(([, x, y]) => [Number(x), Number(y)] as const);
    expect(circles).toHaveLength(3);
    expect(third![0] - second![0]).toBeCloseTo(second![0] - first![0]);
    expect(third![1] - second![1]).toBeCloseTo(second![1] - first![1]);
    expect(picture).toContain('lease');
  });
});
