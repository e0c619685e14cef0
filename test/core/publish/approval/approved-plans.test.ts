import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/core/model/object-meta.ts';
import { approvedPlans } from '../../../../src/core/publish/approval/approved-plans.ts';
import { checkApprovedPlans } from '../../../../src/core/sources/check-approved-plans.ts';

const T1 = '0a1b2c3d4e5f';
const T2 = 'ffffffffffff';
const object = (kind: string, annotations?: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'web', namespace: 'team-a', ...(annotations && { annotations }) },
});

describe('approvedPlans', () => {
  it.each([
    { name: 'nothing', objects: [object('Placement'), object('ConfigMap', {})], want: {} },
    {
      name: 'a token on its placement',
      objects: [object('Placement', { 'berth.dev/plan': T1 })],
      want: { 'team-a/web': [T1] },
    },
    {
      name: 'a release, which approves that change and no other',
      objects: [object('Placement', { 'berth.dev/release': T1 })],
      want: { 'team-a/web': [T1] },
    },
    {
      name: 'placements named on any object',
      objects: [object('ManagedCluster', { 'berth.dev/plan': `team-a/web=${T1}, team-b/api=${T2}` })],
      want: { 'team-a/web': [T1], 'team-b/api': [T2] },
    },
    {
      name: 'several objects about one placement',
      objects: [
        object('ManagedCluster', { 'berth.dev/plan': `team-a/web=${T1}` }),
        object('Placement', { 'berth.dev/plan': T2 }),
      ],
      want: { 'team-a/web': [T1, T2] },
    },
    {
      name: 'no release of deletions, which is about no placement',
      objects: [object('Namespace', { 'berth.dev/release': T1 })],
      want: {},
    },
    {
      name: 'nothing that cannot be read',
      objects: [object('Placement', { 'berth.dev/plan': 'yes, web=0a, a/b/c=0a1b2c3d4e5f' })],
      want: {},
    },
  ])('finds $name', ({ objects, want }) => {
    expect(Object.fromEntries(approvedPlans(objects))).toEqual(want);
  });

  it.each([
    { object: object('Placement', { 'berth.dev/plan': `${T1} team-b/api=${T2}` }), wrong: [] },
    { object: object('Placement', { 'berth.dev/plan': 'OK' }), wrong: ['"OK"'] },
    { object: object('ConfigMap', { 'berth.dev/plan': T1 }), wrong: [`"${T1}"`] },
    {
      object: object('ConfigMap', { 'berth.dev/plan': `api=${T1},team-a/web=${T1}` }),
      wrong: [`"api=${T1}"`],
    },
  ])('says what of it cannot be read: $wrong', ({ object: given, wrong }) => {
    const findings = checkApprovedPlans(given);
    expect(findings.map(({ message }) => /got ("[^"]*")/.exec(message)?.[1])).toEqual(wrong);
    for (const { code, severity, path } of findings)
      expect({ code, severity, path }).toEqual({
        code: 'plan.approval',
        severity: 'error',
        path: ['metadata', 'annotations', 'berth.dev/plan'],
      });
  });
});
