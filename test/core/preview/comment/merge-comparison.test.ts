import { expect, it } from 'vitest';
import { compareMerge } from '../../../../src/core/preview/comment/merge-comparison.ts';
import { mergeResultText } from '../../../../src/core/preview/comment/merge-result.ts';

const CODE = 'a'.repeat(12);
const web = { placement: 'team-a/web', before: ['c1', 'c2'], after: ['c2', 'c3'] };

it.each<[string, { heldToken?: string; clusters: readonly string[] | undefined; held?: string }, boolean]>([
  ['as planned, in any order', { clusters: ['c3', 'c2'] }, true],
  ['another cluster of the same number', { clusters: ['c2', 'c4'] }, false],
  ['all other clusters', { clusters: ['c4', 'c5'] }, false],
  ['one cluster more', { clusters: ['c2', 'c3', 'c4'] }, false],
  ['one cluster less', { clusters: ['c2'] }, false],
  ['no placement', { clusters: undefined }, false],
  ['as planned, but held', { clusters: ['c2', 'c3'], held: 'for another reason' }, false],
  ['held as planned', { heldToken: CODE, clusters: ['c1', 'c2'], held: `release it: ${CODE}` }, true],
  ['held for another plan', { heldToken: CODE, clusters: ['c1', 'c2'], held: 'release it: another' }, false],
  ['planned to be held, and moved anyway', { heldToken: CODE, clusters: ['c1', 'c4'] }, false],
  ['planned to be held, and released', { heldToken: CODE, clusters: ['c2', 'c3'] }, true],
])('a merge that led to %s', (_name, { heldToken: heldCode, clusters, held }, isAsPlanned) => {
  const differences = compareMerge([{ ...web, heldToken: heldCode }], () => clusters && { clusters, held });
  expect(differences.length === 0).toBe(isAsPlanned);
});

it('names what is missing, and what is there without a plan', () => {
  const one = { placement: 'team-a/web', expected: ['c2', 'c3'], published: ['c2', 'c4'], held: undefined };
  expect(mergeResultText([one])).toBe(
    '**Merged: 1 placement is not as this plan said.**\n\n- `team-a/web`: planned and not there: `c3`; there and not planned: `c4`',
  );
  expect(mergeResultText([one, one])).toContain('**Merged: 2 placements are not as this plan said.**');
});
