import { describe, expect, it } from 'vitest';
import { renderPlanMarkdown } from '../../../../src/core/preview/comment/render-plan-markdown.ts';
import { makePlan } from '../../../../src/core/preview/make-plan.ts';
import type { Plan } from '../../../../src/core/preview/plan.ts';
import type { PlanSide } from '../../../../src/core/preview/plan-input.ts';
import { renderPlanHtml } from '../../../../src/core/preview/report/report-page.ts';
import { assessPlan } from '../../../../src/core/preview/risk/assess-plan.ts';
import { renderPlanText } from '../../../../src/core/preview/views/render-plan-text.ts';
import { cluster, judges, placement, side } from '../plan-fixture.ts';

const SET = `${JSON.stringify({
  apiVersion: 'work.open-cluster-management.io/v1alpha1',
  kind: 'ManifestWorkReplicaSet',
  metadata: { name: 'db', namespace: 'shop' },
  spec: {
    placementRefs: [{ name: 'web' }],
    manifestWorkTemplate: {
      workload: { manifests: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'db' } }] },
    },
  },
})}\n`;
const FLEET = [cluster('c1'), cluster('c2'), placement('web')];
const PUBLISHED = new Map([['shop/web', ['c1']]]);
const BASE = { ...side('base', [...FLEET, SET], { web: ['c1'] }), published: PUBLISHED };
const LOST = 'Namespace db is deleted on 1 cluster, with all that is in it: c1.';

function planned(head: PlanSide, over: Partial<Plan> = {}): Plan {
  const plan: Plan = { ...makePlan(BASE, head, judges), ...over };
  return { ...plan, findings: assessPlan({ plan, base: BASE, head, argocdClusters: undefined }) };
}

const HELD = planned({ ...side('head', [...FLEET, SET], { web: [] }), published: PUBLISHED });
const DELETION = { source: 'fleet', message: '1 object would be deleted.', token: 'abc' };
const DELETED = planned(
  { ...side('head', FLEET, { web: ['c1'] }), onHub: BASE.objects, published: PUBLISHED },
  {
    objects: [
      {
        change: 'deleted',
        held: true,
        fields: [],
        ref: {
          apiVersion: 'work.open-cluster-management.io/v1alpha1',
          kind: 'ManifestWorkReplicaSet',
          namespace: 'shop',
          name: 'db',
        },
      },
    ],
    deletionsHeld: [DELETION],
  },
);

describe('what an approval destroys', () => {
  it.each([
    {
      name: 'the removal of the last cluster of a placement',
      plan: HELD,
      want: [['last-cluster', 'If approved: it leaves its last cluster: c1.']],
    },
    {
      name: 'the deletion of a replica set',
      plan: DELETED,
      want: [['last-cluster', 'If approved: it is deleted: c1.']],
    },
  ])('is said in the plan where $name is held', ({ plan, want }) => {
    const approved = plan.findings.filter(({ ifApproved }) => ifApproved === true);
    expect(approved.map(({ code, message }) => [code, message])).toEqual([
      ['data-lost', `If approved: ${LOST}`],
      ...want,
    ]);
    expect(approved.every(({ severity }) => severity === 'danger')).toBe(true);
  });

  it.each([
    { name: 'the text', text: renderPlanText(HELD) },
    { name: 'the comment', text: renderPlanMarkdown(HELD) },
    { name: 'the page', text: renderPlanHtml(HELD) },
    { name: 'JSON', text: JSON.stringify(HELD.findings) },
  ])('is in $name of a plan', ({ text }) => {
    expect(text).toContain(`If approved: ${LOST}`);
  });

  it('is said as what happens where nothing is held', () => {
    const { findings } = planned({
      ...side('head', [...FLEET, SET], { web: ['c2'] }),
      published: new Map([['shop/web', ['c2']]]),
    });
    expect(findings.map(({ message }) => message)).toContain(LOST);
    expect(findings.every(({ ifApproved }) => ifApproved === undefined)).toBe(true);
  });
});

it('the command that approves a hold is on a line of its own, once', () => {
  const command = 'berth release shop/web --token shop/web:1:0';
  const remedy = `To approve this change, set the annotation, or run: ${command}`;
  const head = { ...side('head', [...FLEET, SET], { web: [] }), published: PUBLISHED };
  const held = { reason: 'WouldEmpty', message: `The only cluster would be removed: c1. ${remedy}` };
  const plan = makePlan(BASE, head, { ...judges, judge: () => held });
  const findings = assessPlan({ plan, base: BASE, head, argocdClusters: undefined });
  const text = renderPlanText({ ...plan, findings });
  expect(text.split('\n').filter((line) => line.includes('berth release'))).toEqual([`          ${command}`]);
  expect(text).toContain('! Placement shop/web: Would be held (WouldEmpty): see Placements.\n');
  expect(text).toContain('! held (WouldEmpty): The only cluster would be removed: c1. To approve');
});
