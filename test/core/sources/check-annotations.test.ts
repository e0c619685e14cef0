import { describe, expect, it } from 'vitest';
import { checkAnnotations } from '../../../src/core/sources/check-sources.ts';

const found = (annotations?: Record<string, string>) =>
  checkAnnotations({
    apiVersion: 'v1',
    kind: 'Placement',
    metadata: { name: 'web', ...(annotations && { annotations }) },
  }).map(({ severity, path, message }) => `${severity} ${path.at(-1)}: ${message}`);

describe('checkAnnotations', () => {
  it.each<Record<string, string> | undefined>([
    undefined,
    {},
    { 'example.org/prune': 'false' },
    { 'berth.dev/prune': 'disabled' },
    { 'berth.dev/prune': 'enabled', 'berth.dev/release': '' },
    { 'berth.dev/release': '0a1b2c3d4e5f, 0a1b2c3d4e5e' },
    { 'berth.dev/removal-budget': '10%', 'berth.dev/move-abort': '' },
    { 'berth.dev/removal-budget': '0', 'berth.dev/move-abort': '0a1b2c3d4e5f' },
    { 'berth.dev/move-policy': 'MakeBeforeBreak', 'berth.dev/move-deadline': '1h30m' },
    ...['neutral', 'worst', 'last'].map((rule) => ({ 'berth.dev/missing-scores': rule })),
  ])('has nothing to say of %j', (annotations) => expect(found(annotations)).toEqual([]));

  it.each([
    ['berth.dev/prune', 'false', 'disabled or enabled'],
    ['berth.dev/release', '0a1b2c', 'approval codes of 12 hexadecimal digits, with commas between them'],
    [
      'berth.dev/release',
      '0a1b2c3d4e5f;0a1b2c3d4e5e',
      'approval codes of 12 hexadecimal digits, with commas between them',
    ],
    ['berth.dev/move-abort', 'yes', 'an approval code of 12 hexadecimal digits'],
    ['berth.dev/removal-budget', 'none', 'a number of clusters, or 0% to 100%'],
    ['berth.dev/removal-budget', '150%', 'a number of clusters, or 0% to 100%'],
    ['berth.dev/move-policy', 'makeBeforeBreak', 'MakeBeforeBreak'],
    ['berth.dev/move-deadline', '10', 'a duration such as 10m'],
    ['berth.dev/missing-scores', 'Worst', 'neutral, worst, last'],
    ['berth.dev/missing-scores', '', 'neutral, worst, last'],
  ])('%s: %s is an error', (annotation, value, expected) =>
    expect(found({ [annotation]: value })).toEqual([
      `error ${annotation}: got ${JSON.stringify(value)}, expected ${expected}`,
    ]),
  );
});
