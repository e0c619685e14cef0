import { describe, expect, it } from 'vitest';
import { scaleIntOrPercent } from '../../../src/core/model/int-or-percent.ts';

describe('scaleIntOrPercent', () => {
  it.each([
    [3, 10, 'up', 3],
    ['25%', 10, 'up', 3],
    ['25%', 10, 'down', 2],
    ['100%', 7, 'up', 7],
    ['7%', 100, 'up', 7],
    ['0%', 100, 'up', 0],
    ['150%', 10, 'up', 15],
  ] as const)('%s of %d rounded %s is %d', (value, total, rounding, want) => {
    expect(scaleIntOrPercent(value, total, rounding)).toEqual({ ok: true, value: want });
  });

  it.each(['5', 'abc', '', '%', '2.5%', '1e1%', ' 5%'])('refuses %j and shows it', (value) => {
    const scaled = scaleIntOrPercent(value, 10, 'up');
    expect(scaled.ok ? '' : scaled.error).toContain(JSON.stringify(value));
  });
});
