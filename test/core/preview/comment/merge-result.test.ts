import { sha256 } from '@berth/runtime/sha256';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { MergeCause } from '../../../../src/core/preview/comment/merge-cause.ts';
import {
  isNotable,
  mergeNotice,
  type MergeResult,
  mergeStatus,
} from '../../../../src/core/preview/comment/merge-result.ts';
import { remediation } from '../../../../src/core/publish/judge/judge-result.ts';

const CODE = 'a'.repeat(12);
const web = { placement: 'team-a/web', before: ['c1', 'c2'], after: ['c2', 'c3'] };
const same: MergeResult = { held: [], differences: [], ended: [], later: [], overrides: [] };
const message = `It would leave its only cluster, c1, though nobody edited the placement. ${remediation({ namespace: 'team-a', name: 'web' }, CODE)}`;
const emptied = {
  ...{ what: { placement: 'team-a/web', before: ['c1'], after: [] }, token: CODE },
  ...{ reason: 'WouldEmpty', message, isPlanned: true },
};
const deletions = {
  ...{ what: { deletionsOf: 'fleet' }, token: 'b'.repeat(12) },
  ...{ message: '12 of 20 objects would be deleted.', isPlanned: true },
};
const stale = { ...emptied, token: undefined, reason: 'InventoryStale', message: 'It cannot be read.' };
const differs = (...causes: readonly (MergeCause | undefined)[]): MergeResult => ({
  ...same,
  differences: causes.map((cause) => ({
    ...{ placement: 'team-a/web', before: web.before, expected: web.after, published: ['c2', 'c4'] },
    cause,
  })),
});
const by = 'grace on team/fleet#7 at 2026-03-01T12:00:00.000Z';

const RESULTS: Readonly<Record<string, MergeResult>> = {
  'as planned': same,
  'as planned, and more comes': {
    ...same,
    later: ['team-a/metrics leaves c1 one hour after the merge (tolerationSeconds)'],
  },
  'as planned, in spite of a rule': {
    ...same,
    overrides: [{ rule: 'few', by: 'grace', reason: 'The site is closed.' }],
  },
  'one change is held': { ...same, held: [emptied] },
  'several are held': { ...same, held: [emptied, deletions] },
  'nobody can approve what is held': { ...same, held: [{ ...stale, isPlanned: false }] },
  'it was released': { ...same, ended: [{ what: emptied.what, releasedBy: by, clusters: [] }] },
  'another pull request ended the hold': {
    ...same,
    ended: [{ what: emptied.what, cause: { kind: 'later-merge', number: 9 }, clusters: ['c1'] }],
  },
  'the deletions are not held any more': { ...same, ended: [{ what: deletions.what }] },
  'it differs': differs(undefined),
  'it differs, and something else is held': { ...differs(undefined), held: [deletions] },
  'it differs twice': differs(undefined, { kind: 'hub-before' }),
  'another pull request was merged behind it': differs({ kind: 'later-merge', number: 9 }),
  'another commit came behind it': differs({ kind: 'later-commit', commit: 'c'.repeat(40) }),
  'the hub or the clock did it': differs({ kind: 'hub-since', at: '2026-03-01T12:03:00Z' }),
  'another pull request was merged before it': differs({ kind: 'earlier-merge', number: 5 }),
  'other commits came before it': differs({ kind: 'earlier-commits' }),
  'the hub changed before it': differs({ kind: 'hub-before' }),
};

it('says what a merge did, to people and in the status of its commit', () => {
  const text = Object.entries(RESULTS).map(([name, result]) => {
    const { state, description } = mergeStatus(result);
    const notified = isNotable(result) ? 'a comment of its own' : 'in the comment of the plan';
    return `# ${name}\n\nStatus: ${state}, ${description}\n\nWhere: ${notified}\n\n${mergeNotice('<!-- marker -->', result, sha256)}`;
  });
  const file = join(import.meta.dirname, 'golden/merge-notices.md');
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text.join('\n'));
  expect(text.join('\n')).toBe(readFileSync(file, 'utf8'));
});
