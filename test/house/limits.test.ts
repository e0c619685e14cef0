import { describe, expect, it } from 'vitest';
import { type Limit, limitProblem, limitsRaised, readLimits, type Size } from './limits.ts';
import { packageSizes, sourceSizes } from './source-sizes.ts';

describe('the size of the source', () => {
  const { packages } = readLimits();
  const sizes = packageSizes(sourceSizes());

  it('does not grow, and its limits follow it down', () => {
    expect(sizes['product']?.files).toBeGreaterThan(100);
    const problems = Object.entries(sizes).flatMap(
      ([name, size]) => limitProblem(name, packages[name], size) ?? [],
    );
    expect(problems).toEqual([]);
  });

  it('has limits only for what is there', () => {
    const gone = Object.keys(packages).filter((name) => !(name in sizes));
    expect(gone.map((name) => `delete ${name} from test/house/limits.json`)).toEqual([]);
  });
});

describe('a limit', () => {
  const limit = { files: 100, lines: 5_000 };
  it.each<{ name: string; limit?: Limit; size: Size; spare?: number; want: RegExp | undefined }>([
    { name: 'reached', size: limit, want: undefined },
    { name: 'one percent below', size: { files: 99, lines: 4_950 }, want: undefined },
    {
      name: 'one line more',
      size: { files: 100, lines: 5_001 },
      want: /^kube: 5001 lines, at most 5000\. Fold or delete 1,/,
    },
    { name: 'one file more', size: { files: 101, lines: 5_000 }, want: /^kube: 101 files, at most 100\. / },
    {
      name: 'far fewer lines',
      size: { files: 100, lines: 4_949 },
      want: /^kube: 4949 lines, .*Lower it to 4949/,
    },
    { name: 'fewer files', size: { files: 98, lines: 5_000 }, want: /^kube: 98 files, .*Lower it to 98/ },
    {
      name: 'files within what a measurement may miss',
      size: { files: 98, lines: 5_000 },
      spare: 2,
      want: undefined,
    },
    { name: 'of files alone', limit: { files: 100 }, size: { files: 101 }, want: /^kube: 101 files/ },
  ])('$name', ({ size, spare, want, limit: most = limit }) => {
    const problem = limitProblem('kube', most, size, spare);
    if (want === undefined) expect(problem).toBeUndefined();
    else expect(problem).toMatch(want);
  });

  it('is asked for where there is none', () => {
    expect(limitProblem('kube', undefined, limit)).toContain('Add {"files": 100, "lines": 5000}');
  });
});

describe('a raised limit', () => {
  const versions = [
    { kube: { files: 20, lines: 900, reason: 'has the old client' } },
    { kube: { files: 10, lines: 700 } },
    { kube: { files: 9, lines: 600 } },
  ];
  it.each<{ name: string; now: Limit; want: readonly string[] }>([
    { name: 'as it was', now: { files: 9, lines: 600 }, want: [] },
    { name: 'lower', now: { files: 8, lines: 500 }, want: [] },
    {
      name: 'higher without a reason',
      now: { files: 9, lines: 601 },
      want: ['kube: 601 lines, and 600 earlier: say why in "reason"'],
    },
    {
      name: 'as high as once, without a reason',
      now: { files: 10, lines: 600 },
      want: ['kube: 10 files, and 9 earlier: say why in "reason"'],
    },
    {
      name: 'higher with a reason',
      now: { files: 9, lines: 700, reason: 'takes in the watch cache' },
      want: [],
    },
    {
      name: 'higher with the reason of an earlier raise',
      now: { files: 21, lines: 900, reason: 'has the old client' },
      want: ['kube: 21 files, and 20 earlier: say why in "reason"'],
    },
    {
      name: 'with an empty reason',
      now: { files: 9, lines: 700, reason: ' ' },
      want: ['kube: 700 lines, and 600 earlier: say why in "reason"'],
    },
  ])('$name', ({ now, want }) => {
    expect(limitsRaised({ kube: now }, versions)).toEqual(want);
  });
});
