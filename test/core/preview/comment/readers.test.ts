import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type PreviewComment, renderComment } from '../../../../src/core/preview/comment/render-comment.ts';
import type { LaterChange, Plan, WorkloadPlan } from '../../../../src/core/preview/plan.ts';
import { comment, placementPlan, plainMove, plan, planned, workload } from './comment-fixture.ts';

/*
 * Comments for readers without context (docs/testing.md, "Twenty seconds"). The questions and the expected answers are in
 * readers/answers.md.
 */

const DRAINED = ['c1 is drained', 'ManagedCluster c1'] as const;
const later: LaterChange = {
  ...{ namespace: 'shop', name: 'metrics', afterMs: 3_600_000, by: 'tolerationSeconds' },
  ...{ added: [], removed: ['c1'], kept: [] },
};
const web = placementPlan('shop/web', {
  removed: [plainMove('c1', ...DRAINED)],
  added: [plainMove('c3', ...DRAINED)],
  kept: 1,
});
const REMEDY = 'To approve this change, run: berth release.';
const held = (name: string, token: string, [reason, message]: readonly [string, string], kept = 0) =>
  placementPlan(`shop/${name}`, {
    removed: [
      plainMove('c1', ...DRAINED),
      ...(kept === 0 ? [] : [plainMove('c2', 'c2 is drained', 'ManagedCluster c2')]),
    ],
    kept,
    token,
    held: { reason, message: `${message} ${REMEDY}`, remedy: REMEDY },
  });
const database = held('database', '111111111111', [
  'WouldEmpty',
  'It would leave its only cluster, c1, though nobody edited the placement.',
]);
const wide = held(
  'wide',
  '222222222222',
  ['RemovalBudgetExceeded', '2 of 4 clusters would be removed (budget 1): c1, c2.'],
  2,
);
const image: WorkloadPlan = {
  ...workload('web', 'shop/web'),
  ...{ namespace: 'shop', change: 'changed', added: [], removed: [], kept: 2, changedOn: ['c1', 'c2'] },
  manifests: [
    {
      change: 'changed',
      ref: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
      fields: [
        { path: 'spec.template.spec.containers[0].image', before: '"web:v5"', after: '"web:v6"' },
        { path: 'spec.replicas', before: '3', after: '5' },
      ],
    },
  ],
};
const grown = Array.from({ length: 300 }, (_, at) =>
  plainMove(`edge-${String(at + 1).padStart(3, '0')}`, 'matchLabels.site is removed', 'Placement shop/web'),
);
const fleet: Plan['fleet'] = [
  ...['c1', 'c2', 'c3'].map((name) => ({ name, sets: ['prod'], region: 'eu' })),
  ...grown.map(({ cluster }, at) => ({ name: cluster, sets: ['edge'], region: at % 2 === 0 ? 'eu' : 'us' })),
];

const COMMENTS: Readonly<Record<string, PreviewComment>> = {
  'one-move': comment(
    planned(plan({ placements: [web], later: [later], workloads: [workload('web', 'shop/web')] })),
  ),
  'two-holds': comment(
    planned(
      plan({
        placements: [database, wide, web],
        deletionsHeld: [
          {
            source: 'fleet',
            message: `12 of 20 objects would be deleted; these stay: ConfigMap shop/a, ConfigMap shop/b. ${REMEDY}`,
            remedy: REMEDY,
            token: '333333333333',
          },
        ],
        findings: [
          {
            ...{
              code: 'data-lost',
              severity: 'danger',
              ifApproved: true,
              subject: 'Placement shop/database',
            },
            message: 'If approved: the PersistentVolumeClaim shop/data is deleted on c1, with its data.',
          },
        ],
      }),
    ),
  ),
  denied: comment(
    planned(
      plan({
        placements: [web],
        rules: {
          changed: false,
          base: [
            {
              ...{ name: 'not-on-fridays', effect: 'deny', outcome: 'broken', owners: ['@platform'] },
              message: 'nothing moves on a Friday',
              location: { file: '.berth/rules.yaml', line: 3, column: 5 },
            },
          ],
          head: [],
        },
      }),
    ),
  ),
  'new-image': comment(planned(plan({ placements: [], workloads: [image], later: [later] }))),
  'much-more': comment(
    planned(
      plan({
        fleet,
        placements: [placementPlan('shop/web', { definitionChanged: true, added: grown, kept: 3 })],
        findings: [
          {
            ...{ code: 'grows-much', severity: 'warning', subject: 'Placement shop/web' },
            message:
              '3 clusters before the merge, 303 after it. All of them are added at the merge: what is added is never held.',
          },
        ],
      }),
    ),
    { links: { report: 'https://berth.example/7.html', map: 'https://berth.example/7.svg' } },
  ),
  approved: comment(planned(plan({ placements: [database] })), {
    approvals: [{ token: database.token, by: 'grace' }],
  }),
};

it.each(Object.entries(COMMENTS))('%s is the comment that people read', (name, input) => {
  const file = join(import.meta.dirname, 'readers', `${name}.md`);
  const text = renderComment(input);
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
  expect(readFileSync(join(import.meta.dirname, 'readers/answers.md'), 'utf8')).toContain(`## ${name}\n`);
});
