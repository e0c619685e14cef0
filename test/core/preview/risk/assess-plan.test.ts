import { describe, expect, it } from 'vitest';
import { makePlan } from '../../../../src/core/preview/make-plan.ts';
import { assessPlan } from '../../../../src/core/preview/risk/assess-plan.ts';
import type { Plan } from '../../../../src/core/preview/plan.ts';
import { applicationSet, cluster, judges, placement, replicaSet, side } from '../plan-fixture.ts';

type Decisions = Readonly<Record<string, readonly string[] | { misconfigured: string }>>;
interface Fleet {
  readonly documents: readonly string[];
  readonly decisions: Decisions;
}
interface Case {
  readonly name: string;
  readonly base: Fleet;
  readonly head: Fleet;
  readonly argocd?: readonly string[];
  readonly more?: Partial<Plan>;
  readonly want: readonly string[];
}

const MANY = Array.from({ length: 10 }, (_, at) => `edge${at}`);
const CLUSTERS = [cluster('c1'), cluster('c2')];
const score = (until: string) =>
  `apiVersion: cluster.open-cluster-management.io/v1alpha1\nkind: AddOnPlacementScore\nmetadata: {name: usage, namespace: c1}\nstatus: {scores: [{name: cpu, value: 1}], validUntil: "${until}"}\n`;
const BY_SCORE =
  '{prioritizerPolicy: {configurations: [{scoreCoordinate: {type: AddOn, addOn: {resourceName: usage, scoreName: cpu}}}]}}';
const work = (namespace: string) =>
  `apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {name: w, namespace: ${namespace}}\nspec: {}\n`;
const registered = (name: string, available: string) =>
  cluster(
    name,
    `spec: {hubAcceptsClient: true}\nstatus: {conditions: [{type: ManagedClusterJoined, status: "True"}, {type: ManagedClusterConditionAvailable, status: "${available}"}]}\n`,
  );
const fleet = (documents: readonly string[], decisions: Decisions = {}): Fleet => ({
  documents: [...CLUSTERS, ...documents],
  decisions,
});

/** Nothing is held, so that what happens is reported. */
const released = { ...judges, judge: () => undefined };

describe('assessPlan', () => {
  it.each<Case>([
    {
      name: 'nothing where nothing changes',
      base: fleet([placement('web')], { web: ['c1'] }),
      head: fleet([placement('web')], { web: ['c1'] }),
      want: [],
    },
    {
      name: 'an emptied placement, and the last cluster of its workload',
      base: fleet([placement('web'), replicaSet('web', 'web')], { web: ['c1'] }),
      head: fleet([placement('web'), replicaSet('web', 'web')], { web: [] }),
      want: [
        'danger placement-emptied Placement shop/web: It loses its only cluster.',
        'danger last-cluster ManifestWorkReplicaSet shop/web: It leaves its last cluster: c1.',
      ],
    },
    {
      name: 'a placement that grows much',
      base: fleet([placement('web'), placement('little')], { web: ['c1', 'c2'], little: ['c1'] }),
      head: fleet([placement('web'), placement('little')], {
        web: ['c1', 'c2', ...MANY.slice(0, 10)],
        little: ['c1', ...MANY.slice(0, 9)],
      }),
      want: [
        'warning grows-much Placement shop/web: 2 clusters before the merge, 12 after it. All of them are added at the merge: what is added is never held.',
      ],
    },
    {
      name: 'a deleted placement, whose works stay',
      base: fleet([placement('web'), replicaSet('web', 'web')], { web: ['c1'] }),
      head: fleet([replicaSet('web', 'web')]),
      want: [
        'danger placement-emptied Placement shop/web: It is deleted and has 1 cluster.',
        'danger work-stranded ManifestWorkReplicaSet shop/web: It asks for shop/web, which is deleted: its works stay where they are.',
      ],
    },
    {
      name: 'a cluster that leaves with works',
      base: fleet([work('c2')]),
      head: { documents: [CLUSTERS[0] ?? '', work('c2')], decisions: {} },
      want: [
        'danger work-stranded ManagedCluster c2: The cluster leaves the fleet with 1 workload on it: what runs there is not removed.',
      ],
    },
    {
      name: 'a live cluster that is unregistered, the highest risk of all',
      base: {
        documents: [registered('c1', 'True'), placement('web'), work('c1')],
        decisions: { web: ['c1'] },
      },
      head: { documents: [placement('web'), work('c1')], decisions: { web: [] } },
      want: [
        'danger cluster-unregistered ManagedCluster c1: The change unregisters a live cluster: its agent works, and loses its rights on the hub until the cluster joins again. Its 1 workload and what runs there are removed.',
        'danger placement-emptied Placement shop/web: It loses its only cluster.',
      ],
    },
    {
      name: 'one that was drained before, on which nothing runs',
      base: fleet([registered('c3', 'True')]),
      head: fleet([]),
      want: [
        'danger cluster-unregistered ManagedCluster c3: The change unregisters a live cluster: its agent works, and loses its rights on the hub until the cluster joins again.',
      ],
    },
    {
      name: 'one whose agent is silent',
      base: fleet([registered('c3', 'Unknown'), work('c3')]),
      head: fleet([work('c3')]),
      want: [
        'danger cluster-unregistered ManagedCluster c3: The change unregisters a cluster whose agent is silent, with 1 workload on it: what runs there is not removed, and the agent has no rights on the hub, if it comes back, until the cluster joins again.',
      ],
    },
    {
      name: 'one that is held: it stays, and the risk is named',
      base: fleet([registered('c3', 'True')]),
      head: fleet([registered('c3', 'True')]),
      more: {
        objects: [
          {
            change: 'deleted',
            held: true,
            ref: {
              apiVersion: 'cluster.open-cluster-management.io/v1',
              kind: 'ManagedCluster',
              namespace: '',
              name: 'c3',
            },
            fields: [],
          },
        ],
      },
      want: [
        'danger cluster-unregistered ManagedCluster c3: The change unregisters a live cluster: its agent works, and loses its rights on the hub until the cluster joins again.',
      ],
    },
    {
      name: 'one that is assumed to be lost: nothing is unregistered',
      base: fleet([registered('c3', 'True'), work('c3')]),
      head: fleet([work('c3')]),
      more: { whatIf: ['--lose c3'], objects: [] },
      want: [
        'danger work-stranded ManagedCluster c3: The cluster leaves the fleet with 1 workload on it: what runs there is not removed.',
      ],
    },
    {
      name: 'a work for a cluster that is not there',
      base: fleet([]),
      head: fleet([work('c7')]),
      want: [
        'warning unknown-cluster ManifestWork c7/w: There is no ManagedCluster c7: nobody applies this work.',
      ],
    },
    {
      name: 'a placement that can no longer be read',
      base: fleet([placement('web')]),
      head: fleet([placement('web')], { web: { misconfigured: ':wrong\nselector' } }),
      want: ['warning misconfigured Placement shop/web: :wrong selector'],
    },
    {
      name: 'sets and scores that are not there',
      base: fleet([]),
      head: fleet([placement('web', BY_SCORE.replace('{', '{clusterSets: [gold], '))], { web: ['c1'] }),
      want: [
        'warning unknown-set Placement shop/web: There is no ManagedClusterSet gold.',
        'warning unknown-score Placement shop/web: No cluster has an AddOnPlacementScore usage: every cluster scores 0.',
      ],
    },
    {
      name: 'scores that have expired',
      base: fleet([score('2026-02-01T00:00:00Z')]),
      head: fleet([score('2026-02-01T00:00:00Z'), placement('web', BY_SCORE)], { web: ['c1'] }),
      want: [
        'warning score-expired Placement shop/web: AddOnPlacementScore usage has expired on 1 of 1 cluster: there it counts as 0.',
      ],
    },
    ...(
      [
        ['worst', 'the worst value counts'],
        ['last', 'its last value counts'],
      ] as const
    ).map(([rule, says]) => ({
      name: `scores that have expired, with the rule ${rule}`,
      base: fleet([score('2026-02-01T00:00:00Z')]),
      head: fleet(
        [
          score('2026-02-01T00:00:00Z'),
          placement('web', BY_SCORE).replace(
            'name: web',
            `name: web, annotations: {berth.dev/missing-scores: ${rule}}`,
          ),
        ],
        { web: ['c1'] },
      ),
      want: [
        `warning score-expired Placement shop/web: AddOnPlacementScore usage has expired on 1 of 1 cluster: there ${says}.`,
      ],
    })),
    {
      name: 'scores that have not',
      base: fleet([score('2027-02-01T00:00:00Z')]),
      head: fleet([score('2027-02-01T00:00:00Z'), placement('web', BY_SCORE)], { web: ['c1'] }),
      want: [],
    },
    {
      name: 'clusters that Argo CD does not know',
      base: fleet([placement('web'), applicationSet('apps', 'web')], { web: ['c1'] }),
      head: fleet([placement('web'), applicationSet('apps', 'web')], { web: ['c1', 'c2'] }),
      argocd: ['c1'],
      want: [
        'warning unknown-to-argocd ApplicationSet shop/apps: Argo CD has no cluster Secret of c2, so that nothing is deployed there.',
      ],
    },
    {
      name: 'ApplicationSets that fail, or lose everything',
      base: fleet([]),
      head: fleet([]),
      more: {
        applications: [
          {
            namespace: 'a',
            name: 'x',
            change: 'unchanged',
            placements: [],
            applications: [],
            kept: 2,
            failure: 'no',
          },
          {
            namespace: 'a',
            name: 'y',
            change: 'unchanged',
            placements: [],
            kept: 0,
            applications: [{ change: 'deleted', name: 'y-c1', destination: 'c1', fields: [] }],
          },
        ],
      },
      want: [
        'danger last-cluster ApplicationSet a/y: All of its Applications are deleted: y-c1.',
        'warning applicationset-fails ApplicationSet a/x: Argo CD will not generate its Applications: no. Argo CD leaves its 2 Applications as they are.',
      ],
    },
  ])('tells $name', ({ base: before, head: after, argocd, more, want }) => {
    const base = side('aaaa', before.documents, before.decisions);
    const head = side('bbbb', after.documents, after.decisions);
    const published = new Map(
      Object.entries(before.decisions).map(([name, clusters]) => [
        `shop/${name}`,
        Array.isArray(clusters) ? (clusters as readonly string[]) : [],
      ]),
    );
    const plan = { ...makePlan(base, head, released), ...more };
    const argocdClusters = argocd && new Set(argocd);
    const findings = assessPlan({ plan, base: { ...base, published }, head, argocdClusters });
    expect(
      findings.map(({ severity, code, subject, message }) => `${severity} ${code} ${subject}: ${message}`),
    ).toEqual(want);
  });

  it('tells what is held as held, before all else', () => {
    const base = side('aaaa', [...CLUSTERS, placement('web'), placement('x')], { web: ['c1'] });
    const head = side('bbbb', [...CLUSTERS, placement('web'), placement('x', '{clusterSets: [gold]}')], {});
    const plan = makePlan(base, head, judges);
    const [first] = assessPlan({ plan, base, head, argocdClusters: undefined });
    expect(first).toMatchObject({ code: 'held', severity: 'danger', location: { file: 'f.yaml' } });
  });
});
