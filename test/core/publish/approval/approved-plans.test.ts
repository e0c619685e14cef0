import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { addedApprovals, approvedPlans } from '../../../../src/core/publish/approval/approved-plans.ts';
import { checkApprovedPlans } from '../../../../src/core/sources/check-sources.ts';

const T1 = '0a1b2c3d4e5f';
const T2 = 'ffffffffffff';
const object = (kind: string, annotations?: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'web', namespace: 'team-a', ...(annotations && { annotations }) },
});

type Codes = Record<string, readonly string[]>;

describe('approvedPlans', () => {
  it.each([
    { name: 'nothing', objects: [object('Placement'), object('ConfigMap', {})], want: {} },
    {
      name: 'a code on its placement',
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

  it.each([
    { name: 'a new one', before: [{}], now: [{ web: [T1] }], want: { web: [T1] } },
    { name: 'not one that was there', before: [{ web: [T1] }], now: [{ web: [T1] }], want: {} },
    {
      name: 'all of a placement of which one changes',
      before: [{ web: [T1] }],
      now: [{ web: [T1, T2] }],
      want: { web: [T1, T2] },
    },
    {
      name: 'not one that moves to another source',
      before: [{ web: [T1] }, {}],
      now: [{}, { web: [T1] }],
      want: {},
    },
    {
      name: 'another one in another source',
      before: [{ web: [T1] }, {}],
      now: [{}, { web: [T2] }],
      want: { web: [T2] },
    },
    {
      name: 'one of several that the other source had',
      before: [{ web: [T1, T2] }, {}],
      now: [{}, { web: [T1] }],
      want: { web: [T1] },
    },
    {
      name: 'one beside that of another source',
      before: [{ web: [T1] }, {}],
      now: [{ web: [T1] }, { web: [T2] }],
      want: { web: [T2] },
    },
    {
      name: 'those of two sources',
      before: [{}, {}],
      now: [{ web: [T1] }, { web: [T2], api: [T1] }],
      want: { web: [T1, T2], api: [T1] },
    },
  ] as { name: string; before: Codes[]; now: Codes[]; want: Codes }[])(
    'says what a commit adds: $name',
    ({ before, now, want }) => {
      const maps = (sides: readonly Codes[]) => sides.map((side) => new Map(Object.entries(side)));
      expect(Object.fromEntries(addedApprovals(maps(before), maps(now)))).toEqual(want);
    },
  );
});
