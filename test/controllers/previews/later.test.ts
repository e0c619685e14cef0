import { sha256 } from '@berth/runtime/sha256';
import { describe, expect, it } from 'vitest';
import { parseManifests } from '../../../src/adapters/yaml/parse-manifests.ts';
import { planContents } from '../../../src/controllers/previews/plan-contents.ts';
import { laterTexts } from '../../../src/core/preview/later/later-texts.ts';
import { specHash } from '../../../src/core/publish/judge/decide-publication.ts';
import type { CompactRecord } from '../../../src/core/publish/record/compact-record.ts';
import { snapshotOfObjects } from '../../../src/core/sources/snapshot-of-objects.ts';
import { OCM, ONE_SET } from './one-set.ts';

const NOW = '2026-03-01T12:00:00Z';
const NAMES = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'];

const cluster = (name: string, taint = '') => `apiVersion: ${OCM}/v1
kind: ManagedCluster
metadata: {name: ${name}, labels: {${OCM}/clusterset: all}}
spec: {hubAcceptsClient: true${taint === '' ? '' : `, taints: [${taint}]`}}
`;
const placement = (name: string, spec: string) => `apiVersion: ${OCM}/v1beta1
kind: Placement
metadata: {name: ${name}, namespace: shop}
spec: ${spec}
`;
const tolerating = (seconds: number) =>
  `{tolerations: [{key: maintenance, operator: Exists, tolerationSeconds: ${seconds}}]}`;
const score = (name: string, value: number, until: string) => `apiVersion: ${OCM}/v1alpha1
kind: AddOnPlacementScore
metadata: {name: room, namespace: ${name}}
status: {validUntil: "${until}", scores: [{name: free, value: ${value}}]}
`;
const byScore = `{numberOfClusters: 1, prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: {type: AddOn, addOn: {resourceName: room, scoreName: free}}, weight: 1}]}}`;
const MAINTENANCE = '{key: maintenance, effect: NoSelect}';
const BROKEN = '{key: broken, effect: NoSelect}';
const SINCE_TEN = `{key: maintenance, effect: NoSelect, timeAdded: "2026-03-01T11:50:00Z"}`;

const objectsOf = (documents: readonly string[]) => {
  const { manifests, problems } = parseManifests({ file: 'f.yaml', text: documents.join('---\n') });
  expect(problems).toEqual([]);
  return manifests;
};
const fleet = (taints: Readonly<Record<string, string>>, ...rest: string[]) => [
  ...NAMES.map((name) => cluster(name, taints[name])),
  ONE_SET,
  ...rest,
];
const planOf = (base: readonly string[], head: readonly string[], more: object = {}) =>
  planContents({
    base: { fleet: { objects: objectsOf(base) }, end: { name: 'main', commit: 'a' } },
    head: { fleet: { objects: objectsOf(head) }, end: { name: 'head', commit: 'b' } },
    now: NOW,
    ...more,
  }).plan;

const specOf = (documents: readonly string[]): string => {
  const { placements } = snapshotOfObjects(objectsOf(documents), { now: NOW });
  return placements.map((one) => specHash(sha256, one)).join();
};

const metrics = placement('metrics', tolerating(3600));
const addOn = (...placements: readonly string[]) => `apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata: {name: mesh}
spec: {installStrategy: {type: Placements, placements: [${placements.map((name) => `{name: ${name}, namespace: shop}`).join(', ')}]}}
`;

describe('a later change is in the plan', () => {
  it.each([
    {
      name: 'a toleration of a taint that the change sets',
      base: fleet({}, metrics),
      head: fleet({ c1: MAINTENANCE }, metrics),
      want: [
        'shop/metrics leaves c1 one hour after the merge, when its toleration of a taint ends (tolerationSeconds)',
      ],
    },
    {
      name: 'what would be held then',
      base: fleet({}, metrics),
      head: fleet({ c1: MAINTENANCE, c2: MAINTENANCE, c3: MAINTENANCE }, metrics),
      want: [
        'shop/metrics would leave c1, c2, c3 one hour after the merge, when its toleration of a taint ends (tolerationSeconds), and is held then: RemovalBudgetExceeded',
      ],
    },
    {
      name: 'another result of a change that is held, which selects a cluster for as long as it is tolerated',
      base: fleet({}, placement('db', `{numberOfClusters: 3, ${tolerating(3600).slice(1)}`)),
      head: fleet(
        { c1: BROKEN, c2: BROKEN, c3: BROKEN, c4: MAINTENANCE },
        placement('db', `{numberOfClusters: 3, ${tolerating(3600).slice(1)}`),
      ),
      want: [
        'shop/db would leave c1, c2, c3 and join c5, c6, c7 one hour after the merge, when its toleration of a taint ends (tolerationSeconds), and is held then: RemovalBudgetExceeded',
      ],
    },
    {
      name: 'a toleration that the change shortens',
      base: fleet({ c1: SINCE_TEN }, metrics),
      head: fleet({ c1: SINCE_TEN }, placement('metrics', tolerating(1200))),
      want: [
        'shop/metrics leaves c1 at 2026-03-01 12:10:00 UTC, when its toleration of a taint ends (tolerationSeconds)',
      ],
    },
    {
      name: 'a toleration that the change removes the end of',
      base: fleet({ c1: SINCE_TEN }, metrics),
      head: fleet(
        { c1: SINCE_TEN },
        placement('metrics', '{tolerations: [{key: maintenance, operator: Exists}]}'),
      ),
      want: [
        'shop/metrics stays on c1, which it would leave at 2026-03-01 12:50:00 UTC without the merge, when its toleration of a taint ends (tolerationSeconds)',
      ],
    },
    {
      name: 'a score that ends',
      base: fleet({}),
      head: fleet(
        {},
        placement('db', byScore),
        score('c1', 90, '2026-03-01T13:00:00Z'),
        score('c2', 50, '2026-03-09T13:00:00Z'),
      ),
      want: ['shop/db leaves c1 and joins c2 at 2026-03-01 13:00:00 UTC, when a score expires (validUntil)'],
    },
    {
      name: 'not what happens without it, too',
      base: fleet({ c1: SINCE_TEN }, metrics),
      head: fleet({ c1: SINCE_TEN }, metrics, placement('other', '{numberOfClusters: 1}')),
      want: [],
    },
    {
      name: 'not a change after the horizon',
      base: fleet({}, placement('metrics', tolerating(90_000))),
      head: fleet({ c1: MAINTENANCE }, placement('metrics', tolerating(90_000))),
      want: [],
    },
    { name: 'nothing where nothing is timed', base: fleet({}), head: fleet({ c1: MAINTENANCE }), want: [] },
  ])('$name', ({ base, head, want }) => {
    expect(laterTexts(planOf(base, head))).toEqual(want);
  });

  const held = 'and is held then: RemovalBudgetExceeded';
  const brief = placement('metrics', tolerating(300));

  it.each([
    {
      name: 'leave with its clusters',
      addOns: [addOn('metrics')],
      want: 'shop/metrics leaves c1, c2 one hour after the merge, when its toleration of a taint ends (tolerationSeconds); add-on mesh leaves c1, c2, too',
      json: [{ name: 'mesh', added: [], removed: ['c1', 'c2'] }],
    },
    {
      name: 'would leave, and are held',
      addOns: [addOn('metrics')],
      budget: { percent: 0, atLeast: 1 },
      want: 'shop/metrics leaves c1, c2 one hour after the merge, when its toleration of a taint ends (tolerationSeconds); add-on mesh would leave c1, c2, too, and is held then',
      json: [{ name: 'mesh', added: [], removed: ['c1', 'c2'], held: true }],
    },
    {
      name: 'stay, if another placement keeps them there',
      addOns: [addOn('metrics', 'always')],
      want: 'shop/metrics leaves c1, c2 one hour after the merge, when its toleration of a taint ends (tolerationSeconds)',
      json: undefined,
    },
  ])('says of the add-ons that the placement installs: they $name', ({ addOns, budget, want, json }) => {
    const always = placement('always', '{tolerations: [{key: maintenance, operator: Exists}]}');
    const side = (taints: Readonly<Record<string, string>>) => fleet(taints, metrics, always, ...addOns);
    const addOnJudging = budget && { budget, removalsOf: () => [] };
    const plan = planOf(side({}), side({ c1: MAINTENANCE, c2: MAINTENANCE }), { addOnJudging });
    expect(laterTexts(plan)).toEqual([want]);
    expect(plan.later.map((one) => one.addOns)).toEqual([json]);
  });

  it('says on which clusters they arrive with it', () => {
    const scored = fleet(
      {},
      addOn('db'),
      score('c1', 90, '2026-03-01T13:00:00Z'),
      score('c2', 50, '2026-03-09T13:00:00Z'),
    );
    const { later } = planOf(scored, [...scored, placement('db', byScore)]);
    expect(later.map((one) => one.addOns)).toEqual([[{ name: 'mesh', added: ['c2'], removed: ['c1'] }]]);
  });

  it('counts what the merge itself removes toward the budget of later changes', () => {
    const taints = { c1: BROKEN, c2: BROKEN, c3: MAINTENANCE };
    const [later] = laterTexts(planOf(fleet({}, brief), fleet(taints, brief)));
    expect(later).toContain('would leave c3');
    expect(later).toContain(held);
    const [alone] = laterTexts(planOf(fleet({}, brief), fleet({ c3: MAINTENANCE }, brief)));
    expect(alone).toContain('leaves c3');
  });

  it('counts what was removed before the merge, unless the merge changes the spec', () => {
    const base = fleet({}, brief);
    const removed = {
      placement: 'shop/metrics',
      publishedAt: '2026-03-01T11:59:00Z',
      removed: { count: 3, names: [] },
      released: null,
    } as unknown as CompactRecord;
    const created = 'namespace: shop, creationTimestamp: "2026-01-01T00:00:00Z"';
    const live = base.map((text) => text.replace('namespace: shop', created));
    const onHub = {
      hub: snapshotOfObjects(objectsOf(live), { now: NOW }),
      recordsOf: () => [removed],
    };
    const [same] = laterTexts(planOf(base, fleet({ c1: MAINTENANCE }, brief), onHub));
    expect(same).toContain(held);
    const shorter = placement('metrics', tolerating(200));
    const [changed] = laterTexts(
      planOf(base, fleet({ c1: MAINTENANCE }, shorter), {
        ...onHub,
        recordsOf: () => [{ ...removed, spec: specOf(base) }],
      }),
    );
    expect(changed).toContain('leaves c1');
  });

  it.each([
    {
      name: 'a cluster that the change selects and that is about to count as unreachable',
      base: fleet({}),
      head: fleet({}, placement('db', '{numberOfClusters: 1}')),
      overdue: [{ cluster: 'c1', runsOutAt: '2026-03-01T12:02:00Z' }],
      want: [
        'shop/db leaves c1 and joins c2 at 2026-03-01 12:02:00 UTC, when an overdue lease runs out (leaseDurationSeconds), if the agent of c1 stays silent',
      ],
    },
    {
      name: 'clusters that are given up soon after each other, together',
      base: fleet({}),
      head: fleet({}, placement('db', '{numberOfClusters: 1}')),
      overdue: [
        { cluster: 'c1', runsOutAt: '2026-03-01T12:02:00Z' },
        { cluster: 'c2', runsOutAt: '2026-03-01T12:02:20Z' },
      ],
      want: [
        'shop/db leaves c1 and joins c3 at 2026-03-01 12:02:20 UTC, when an overdue lease runs out (leaseDurationSeconds), if the agents of c1, c2 stay silent',
      ],
    },
    {
      name: 'the end of a toleration of the taint that follows',
      base: fleet({}),
      head: fleet(
        {},
        placement(
          'db',
          `{numberOfClusters: 1, tolerations: [{key: ${OCM}/unreachable, operator: Exists, tolerationSeconds: 600}]}`,
        ),
      ),
      overdue: [{ cluster: 'c1', runsOutAt: '2026-03-01T12:02:00Z' }],
      want: [
        'shop/db leaves c1 and joins c2 at 2026-03-01 12:12:00 UTC, when its toleration of a taint ends (tolerationSeconds), if the agent of c1 stays silent',
      ],
    },
    {
      name: 'without a condition what happens anyway',
      base: fleet({}, metrics),
      head: fleet({ c1: MAINTENANCE }, metrics),
      overdue: [{ cluster: 'c5', runsOutAt: '2026-03-01T12:02:00Z' }],
      want: [
        'shop/metrics leaves c1 one hour after the merge, when its toleration of a taint ends (tolerationSeconds)',
      ],
    },
    {
      name: 'only the part that differs from what happens without it',
      base: fleet({}, placement('db', '{numberOfClusters: 1}')),
      head: fleet({}, placement('db', '{numberOfClusters: 1}'), placement('other', '{numberOfClusters: 2}')),
      overdue: [
        { cluster: 'c1', runsOutAt: '2026-03-01T12:02:00Z' },
        { cluster: 'c8', runsOutAt: '2026-03-01T12:09:00Z' },
        { cluster: 'unknown', runsOutAt: '2026-03-01T12:03:00Z' },
      ],
      want: [
        'shop/db joins c4 at 2026-03-01 12:02:00 UTC, when an overdue lease runs out (leaseDurationSeconds), if the agent of c1 stays silent',
      ],
    },
    {
      name: 'what would be held then',
      base: fleet({}),
      head: fleet(
        {},
        placement(
          'db',
          '{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {only: c1}}}}]}',
        ),
      ).map((document) => document.replace('name: c1, labels: {', 'name: c1, labels: {only: c1, ')),
      overdue: [{ cluster: 'c1', runsOutAt: '2026-03-01T12:02:00Z' }],
      want: [
        'shop/db would leave c1 at 2026-03-01 12:02:00 UTC, when an overdue lease runs out (leaseDurationSeconds), if the agent of c1 stays silent, and is held then: WouldEmpty',
      ],
    },
  ])('that depends on an agent: $name', ({ base, head, overdue, want }) => {
    expect(laterTexts(planOf(base, head, { overdue }))).toEqual(want);
  });

  it('holds it to an approval that the merge does not meet, for ten minutes', () => {
    const approving = (seconds: number) =>
      placement('metrics', tolerating(seconds)).replace(
        'namespace: shop',
        'namespace: shop, annotations: {berth.dev/plan: "0123456789ab"}',
      );
    const head = (seconds: number) => fleet({ c1: MAINTENANCE }, approving(seconds));
    const [soon] = laterTexts(planOf(fleet({}, brief), head(300)));
    expect(soon).toContain('and is held then: DiffersFromPlan');
    const [late] = laterTexts(planOf(fleet({}, metrics), head(3600)));
    expect(late).toContain('leaves c1');
  });

  it('is the same plan a minute later, where the time counts from the merge', () => {
    const [change] = planOf(fleet({}, metrics), fleet({ c1: MAINTENANCE }, metrics)).later;
    expect(change).toMatchObject({ afterMs: 3_600_000 });
    expect(change).not.toHaveProperty('at');
  });
});
