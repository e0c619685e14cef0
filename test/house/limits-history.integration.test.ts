import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { limitsRaised, parseLimits, readLimits } from './limits.ts';

const FILE = 'test/house/limits.json';
/** So many versions of the file are read. A clone may have fewer. */
const VERSIONS = 40;

const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

it('a limit that is higher than in an earlier commit says why', () => {
  const earlier = git('log', `-${VERSIONS}`, '--diff-filter=AM', '--format=%H', '--', FILE)
    .split('\n')
    .filter((commit) => commit !== '')
    .map((commit) => parseLimits(git('show', `${commit}:${FILE}`)));
  const now = readLimits();
  expect(
    limitsRaised(
      now.packages,
      earlier.map(({ packages }) => packages),
    ),
  ).toEqual([]);
  expect(
    limitsRaised(
      now.behaviours,
      earlier.map(({ behaviours }) => behaviours),
    ),
  ).toEqual([]);
});
