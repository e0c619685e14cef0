import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RuleResult } from '../../../../src/core/preview/plan-verdict.ts';
import { fleetMap, fleetMapSvg } from '../../../../src/core/preview/comment/fleet-map.ts';
import { type MergeResult, withMergeResult } from '../../../../src/core/preview/comment/merge-result.ts';
import { previewVerdict } from '../../../../src/core/preview/comment/preview-outcome.ts';
import { renderComment } from '../../../../src/core/preview/comment/render-comment.ts';
import { reportPage } from '../../../../src/core/preview/report/report-page.ts';
import { remediation } from '../../../../src/core/publish/judge/judge-result.ts';
import { comment, move, plainMove, placementPlan, plan, planned, workload } from './comment-fixture.ts';
import { MORE_SITUATIONS } from './more-situations.ts';

/** Compares with a file beside this test; `UPDATE_GOLDEN=1` writes it again. */
const golden = (name: string, text: string): void => {
  const file = join(import.meta.dirname, 'golden', name);
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
};

const moved = placementPlan('team-a/web', {
  removed: [plainMove('c1', 'c1 has the taint maintenance', 'ManagedCluster c1')],
  added: [plainMove('c3', 'c1 has the taint maintenance', 'ManagedCluster c1')],
  kept: 1,
});
const REMEDY = remediation({ namespace: 'team-a', name: 'db' }, '0a1b2c3d4e5f');
const emptied = placementPlan('team-a/db', {
  removed: [plainMove('c1', 'c1 has the taint maintenance', 'ManagedCluster c1')],
  after: { selected: 0 },
  held: {
    reason: 'WouldEmpty',
    message: `It would leave its only cluster, c1, though nobody edited the placement. ${REMEDY}`,
    remedy: REMEDY,
  },
});
const created = placementPlan('team-b/new', { change: 'created', added: [move('c2', 'rank 1 of 3')] });
const short = placementPlan('team-b/many', {
  removed: [plainMove('c4', 'c4 is not in cluster set test any more', 'ManagedCluster c4')],
  kept: 2,
  after: { selected: 2, unscheduled: 3, message: 'only 2 of 5 clusters fit' },
});
const HELD = { source: 'fleet', message: '12 of 20 objects would be deleted.', token: 'ffffffffffff' };

const rule = (name: string, effect: RuleResult['effect'], outcome: RuleResult['outcome']): RuleResult => ({
  name,
  effect,
  outcome,
  message: 'at most 3 clusters leave',
  owners: ['@platform'],
  location: { file: '.berth/rules.yaml', line: 3, column: 5 },
});

const SITUATIONS = {
  'nothing-moves': comment(planned(plan({ hasChanges: false, placements: [], objects: [] }))),
  'objects-only': comment(planned(plan({ placements: [] }))),
  move: comment(planned(plan({ placements: [moved], workloads: [workload('web', 'team-a/web')] }))),
  'danger-first': comment(planned(plan({ placements: [created, moved, short, emptied] }))),
  approved: comment(planned(plan({ placements: [emptied] })), {
    approvals: [{ token: emptied.token, by: 'grace' }],
  }),
  refused: comment(planned(plan({ placements: [emptied] })), { notes: ['ada opened this pull request.'] }),
  'waiting-and-later': comment(
    planned(
      plan({
        placements: [moved],
        waiting: [
          { kind: 'hold', subject: 'team-a/db', from: 2, to: 0, reason: 'WouldEmpty' },
          { kind: 'deletions', subject: 'fleet' },
          { kind: 'change', subject: 'team-b/new', from: 0, to: 301 },
        ],
        later: [
          {
            ...{ namespace: 'team-a', name: 'metrics', afterMs: 3_600_000, by: 'tolerationSeconds' },
            ...{ added: [], removed: ['c1'], kept: [] },
          },
          {
            ...{ namespace: 'team-a', name: 'cache', at: '2026-03-01T18:00:00Z', by: 'validUntil' },
            ...{ added: ['c2'], removed: ['c1', 'c3'], kept: [], held: 'RemovalBudgetExceeded' },
          },
          {
            ...{ namespace: 'team-a', name: 'queue', at: '2026-03-01T12:02:30Z', by: 'lease' },
            ...{ added: ['c2'], removed: ['c4'], kept: [], ifSilent: ['c4'] },
          },
        ],
      }),
    ),
  ),
  'deletions-held': comment(planned(plan({ placements: [], deletionsHeld: [HELD] }))),
  'file-lost': comment(
    planned(
      plan({
        placements: [],
        lostFiles: [
          {
            source: 'fleet',
            file: 'web.yaml',
            change: 'emptied',
            movedTo: undefined,
            objects: [{ apiVersion: 'v1', kind: 'Placement', namespace: 'team-a', name: 'web' }],
          },
        ],
      }),
    ),
  ),
  denied: comment(
    planned(
      plan({
        placements: [moved],
        rules: {
          changed: true,
          base: [rule('few-removals', 'deny', 'broken'), rule('two-regions', 'warn', 'failed')],
          head: [rule('few-removals', 'deny', 'kept')],
        },
      }),
    ),
  ),
  risks: comment(
    planned(
      plan({
        placements: [moved],
        findings: [
          {
            code: 'last-cluster',
            severity: 'danger',
            subject: 'Placement team-a/web',
            message: 'leaves its last cluster',
          },
          {
            code: 'held',
            severity: 'danger',
            subject: 'Placement team-a/db',
            message: 'is printed with its code',
          },
          {
            code: 'score-expired',
            severity: 'notice',
            subject: 'Placement x/y',
            message: 'uses an old score',
          },
        ],
        applications: [
          {
            namespace: 'argocd',
            name: 'shop',
            change: 'unchanged',
            placements: ['team-a/web'],
            applications: [
              { change: 'created', name: 'shop-c3', destination: 'c3', fields: [] },
              { change: 'deleted', name: 'shop-c1', destination: 'c1', fields: [] },
              {
                change: 'changed',
                name: 'shop-c2',
                destination: 'c2',
                fields: [{ path: 'spec.source.targetRevision', before: '"v1"', after: '"v2"' }],
              },
            ],
            kept: 4,
            preserves: true,
          },
          {
            namespace: 'argocd',
            name: 'broken',
            change: 'changed',
            placements: [],
            applications: [],
            kept: 2,
            failure: 'template: nothing called "nam"',
          },
        ],
      }),
    ),
  ),
  errors: comment(
    planned(plan({ placements: [moved] }), [
      {
        severity: 'error',
        code: 'schema.unknown-field',
        message:
          'spec.numberOfCluster: is not a field of this kind, and the hub refuses the object because of it',
        hint: 'did you mean numberOfClusters?',
        object: 'Placement team-a/web',
        location: { file: 'team-a/web.yaml', line: 10, column: 3, commit: 'c'.repeat(40) },
        excerpt: [
          { line: 9, text: 'spec:' },
          { line: 10, text: '  numberOfCluster: 1 # `one`' },
          { line: 11, text: '  clusterSets: [<prod>]' },
        ],
      },
      { severity: 'error', code: 'x', message: 'the hub refuses the object', object: 'Placement team-a/db' },
      { severity: 'warning', code: 'y', message: 'is not used', hint: 'remove it' },
    ]),
  ),
  conflict: comment({
    kind: 'unplanned',
    message: 'the pull request does not merge into main by itself: both changed web.yaml',
    hint: 'bring the pull request up to date',
  }),
  fork: comment(planned(plan({ placements: [moved] }), [], true)),
  linked: comment(planned(plan({ placements: [moved] })), {
    links: { report: 'https://berth.example/previews/fleet/7.html?x', map: 'https://berth.example/7.svg?x' },
  }),
  'many-placements': comment(
    planned(
      plan({
        placements: Array.from({ length: 120 }, (_, at) =>
          placementPlan(`team-a/p${String(at).padStart(3, '0')}`, {
            removed: [move('c1', 'drained')],
            kept: at,
          }),
        ),
      }),
    ),
    { maxLength: 12_000 },
  ),
} as const;

describe('the comment on a pull request', () => {
  it.each(Object.entries({ ...SITUATIONS, ...MORE_SITUATIONS }))('%s', (name, input) => {
    const text = renderComment(input);
    expect(text.length).toBeLessThanOrEqual(input.maxLength);
    golden(`${name}.md`, text);
  });

  it('has a picture of a large fleet', () => {
    const { map } = MORE_SITUATIONS['large-fleet'] ?? {};
    golden('fleet-map-large.svg', map === undefined ? '' : fleetMapSvg(map));
  });

  it('keeps the most dangerous row and whole blocks at every length', () => {
    const input = SITUATIONS['danger-first'];
    for (let maxLength = 1_500; maxLength < 4_000; maxLength += 37) {
      const text = renderComment({ ...input, maxLength });
      expect(text.length).toBeLessThanOrEqual(maxLength);
      expect(text.split('```').length % 2).toBe(1);
      expect(text.split('<details>')).toHaveLength(text.split('</details>').length);
      expect(text).toContain('would be held');
    }
  });

  it('has the whole command and the whole annotation, however much is held and however long its names are', () => {
    const names = Array.from({ length: 200 }, (_, at) => `${String(at).padStart(3, '0')}${'x'.repeat(250)}`);
    const held = { reason: 'WouldEmpty', message: `All would be removed. ${REMEDY}`, remedy: REMEDY };
    const placements = names.map((name, at) => ({
      ...placementPlan('team-a/x', { removed: [move(name)], held, token: String(at).padStart(12, '0') }),
      name,
    }));
    const text = renderComment(comment(planned(plan({ placements })), { maxLength: 32_000 }));
    expect(text.length).toBeLessThanOrEqual(32_000);
    expect(text).toMatch(/Approve all of them with the comment `\/berth approve [0-9a-f]{12}`\./);
    expect(text).toContain('- … and 180 more held changes');
    expect(text).toMatch(/_\d+ more sections do not fit in a comment: run `berth plan` to see them\._/);
    expect(text).toContain(`\`team-a/${names[0] ?? ''}\``);
    const few = renderComment(comment(planned(plan({ placements: placements.slice(0, 9) }))));
    expect(few).toContain(`team-a/${names[8] ?? ''}=000000000008"\n`);
  });

  it('says after the merge what became of it, and replaces that', () => {
    const text = renderComment(SITUATIONS.move);
    const same: MergeResult = { held: [], differences: [], ended: [], later: [], overrides: [] };
    const differences = [{ placement: 'team-a/web', before: ['c1'], expected: ['c3'], published: ['c4'] }];
    const what = { placement: 'team-a/db', before: ['c1'], after: [] };
    const held = [
      { what, token: 'a'.repeat(12), reason: 'WouldEmpty', message: 'held `x`', isPlanned: true },
    ];
    const waiting = withMergeResult(text, undefined, 60_000);
    const differs = withMergeResult(waiting, { ...same, held, differences }, 60_000);
    golden('merged-different.md', differs);
    expect(withMergeResult(differs, same, 60_000)).toBe(withMergeResult(text, same, 60_000));
    golden('merged-same.md', withMergeResult(text, same, 60_000));
    // What is still to come is listed once.
    const [before = '', after = ''] = text.split('| app |');
    const later = `${before}**Later, within 24 hours, if nothing else changes**\n\n- team-a/x leaves c1\n\n| app |${after}`;
    expect(withMergeResult(later, same, 60_000)).toBe(withMergeResult(text, same, 60_000));
    // A comment that is as long as the forge allows has the first line only.
    const shortest = withMergeResult(text, same, 60_000).length + 20;
    const short = withMergeResult(differs, { ...same, differences }, shortest);
    expect(short).toContain('**Merged: 1 placement is not as this plan said.**');
    expect(short).not.toContain('though not planned');
  });

  it('has a verdict that only an approval of everything held changes', () => {
    const outcome = planned(plan({ placements: [emptied], deletionsHeld: [HELD] }));
    const approval = (code: string) => ({ token: code, by: 'grace' });
    expect(previewVerdict(outcome, []).level).toBe('stopped');
    expect(previewVerdict(outcome, [approval(emptied.token)]).level).toBe('stopped');
    expect(previewVerdict(outcome, [approval(emptied.token), approval(HELD.token)]).level).toBe('changes');
  });

  it('shows the time of the plan to the second', () => {
    const outcome = planned(plan({ placements: [moved], now: '2026-03-01T12:00:07.123Z' }));
    expect(renderComment(comment(outcome))).toContain('as of 2026-03-01 12:00:07 UTC ·');
  });

  it('has a page that says what to do where there is no plan', () => {
    const outcome = {
      kind: 'unplanned',
      message: 'both changed web.yaml',
      hint: 'merge main <into> it',
    } as const;
    const page = reportPage({ subject: 't', outcome, approvals: [], maxLength: 100_000 });
    expect(page).toContain('<p>Merge main &#60;into&#62; it.</p>');
  });

  it('has a map', () => {
    golden('fleet-map.svg', fleetMapSvg(fleetMap(plan({ placements: [moved] }))));
  });
});
