import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SOURCES, sourceFiles } from './source-files.ts';

/**
 * The size rules of the house, as a ratchet: no file over the hard limit, half of all files small, and files over the
 * soft limit are named in sizes-over-soft-limit.json with the size they may not outgrow. Shrink a number when a file
 * shrinks. The three that are named are plain tables, one entry per kind that the hub serves, and read better as one list each.
 */
const SOFT_LIMIT = 400;
const HARD_LIMIT = 500;
const MEDIAN_LIMIT = 80;
const OVER_SOFT_LIMIT = JSON.parse(
  readFileSync(new URL('./sizes-over-soft-limit.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, number>>;
const BANNED_NAMES = /(^|\/)(utils?|helpers?|common|misc|types|index)\.ts$/;

const sources = sourceFiles(SOURCES, '.ts').filter((file) => !file.endsWith('.data.ts'));

const lineCounts = sources.map((file) => {
  const lines = readFileSync(file, 'utf8').split('\n');
  return { file, lines: lines.filter((line) => line.trim() !== '').length };
});

describe('sizes', () => {
  it('keeps every file under the hard limit, and under the soft one unless it is listed', () => {
    const tooLong = lineCounts
      .filter(({ file, lines }) => lines > Math.min(HARD_LIMIT, OVER_SOFT_LIMIT[file] ?? SOFT_LIMIT))
      .map(
        ({ file, lines }) =>
          `${file}: ${lines} lines, at most ${OVER_SOFT_LIMIT[file] ?? SOFT_LIMIT} allowed`,
      );
    expect(tooLong).toEqual([]);
  });

  it('lists only files that exist and are still over the soft limit', () => {
    const stale = Object.keys(OVER_SOFT_LIMIT).filter(
      (file) => (lineCounts.find((entry) => entry.file === file)?.lines ?? 0) <= SOFT_LIMIT,
    );
    expect(stale).toEqual([]);
  });

  it('keeps the median file small', () => {
    const sorted = lineCounts.map(({ lines }) => lines).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(MEDIAN_LIMIT);
  });

  it('names duties, not drawers', () => {
    expect(sources.filter((file) => BANNED_NAMES.test(file))).toEqual([]);
  });
});
