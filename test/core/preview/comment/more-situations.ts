import type { PreviewComment } from '../../../../src/core/preview/comment/render-comment.ts';
import type { FleetCluster, Plan, WorkloadPlan } from '../../../../src/core/preview/plan.ts';
import { comment, move, plainMove, placementPlan, plan, planned, workload } from './comment-fixture.ts';

const REGIONS = ['eu-central-1', 'eu-west-1', 'us-east-1', 'ap-south-1'];

/** Clusters of two sets in four regions. */
const fleetOf = (count: number): readonly FleetCluster[] =>
  Array.from({ length: count }, (_, at) => ({
    name: `cluster-${String(at).padStart(3, '0')}`,
    sets: [at % 3 === 0 ? 'staging' : 'prod', 'global'],
    region: REGIONS[at % 4],
  }));

const drained = placementPlan('payments/api', {
  removed: [plainMove('c1', 'c1 has the taint maintenance', 'ManagedCluster c1')],
  added: [plainMove('c3', 'c1 has the taint maintenance', 'ManagedCluster c1')],
  moves: [
    {
      from: 'c1',
      to: 'c3',
      because: 'tainted maintenance',
      causes: ['ManagedCluster c1'],
      margin: -30,
    },
  ],
  kept: 2,
  affectedBy: ['ManagedCluster c1'],
});

const content: WorkloadPlan = {
  ...workload('api', 'payments/api'),
  change: 'changed',
  changedOn: ['c1', 'c2'],
  manifests: [
    {
      change: 'changed',
      ref: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'api' },
      fields: [
        { path: 'spec.template.spec.containers[0].image', before: '"api:1.2"', after: '"api:1.3"' },
        { path: 'spec.replicas', before: '3', after: '5' },
      ],
    },
    {
      change: 'changed',
      ref: { apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 'keys' },
      fields: [{ path: 'data.key', before: undefined, after: undefined, secret: true }],
    },
    {
      change: 'created',
      ref: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'flags' },
      fields: [],
    },
  ],
};

const set = (name: string): Plan['applications'][number] => ({
  ...{ namespace: 'argocd', name, change: 'unchanged', placements: ['payments/api'] },
  applications: [
    { change: 'created', name: `${name}-c3`, destination: 'c3', fields: [] },
    { change: 'deleted', name: `${name}-c1`, destination: 'c1', fields: [] },
  ],
  kept: 2,
});

const finding = (
  code: Plan['findings'][number]['code'],
  severity: Plan['findings'][number]['severity'],
  subject: string,
  message: string,
): Plan['findings'][number] => ({ code, severity, subject, message });

const large = fleetOf(300);
const leaving = large.filter((_, at) => at % 7 === 0).map(({ name }) => name);
const joining = large.filter((_, at) => at % 11 === 1).map(({ name }) => name);

/** Beside those of render-comment.test.ts. */
const ADD_ON_REMEDY =
  'To approve this change, set the annotation berth.dev/release: "1a1b2c3d4e5f" on one of their ManagedClusterAddOns, or run: berth release --addon cluster-proxy --token 1a1b2c3d4e5f';

export const MORE_SITUATIONS: Readonly<Record<string, PreviewComment>> = {
  'placement-created': comment(
    planned(
      plan({
        placements: [
          placementPlan('team-b/new', {
            change: 'created',
            added: [move('c2', 'rank 1 of 3 with 100 points'), move('c3', 'rank 2 of 3 with 90 points')],
          }),
        ],
        workloads: [
          { ...workload('new', 'team-b/new'), change: 'created', added: ['c2', 'c3'], removed: [] },
        ],
      }),
    ),
  ),
  'placement-deleted': comment(
    planned(
      plan({
        placements: [
          placementPlan('team-b/old', { change: 'deleted', removed: [move('c1'), move('c2'), move('c4')] }),
        ],
        findings: [
          finding('placement-emptied', 'danger', 'Placement team-b/old', 'It is deleted and has 3 clusters.'),
          finding(
            'work-stranded',
            'danger',
            'ManifestWorkReplicaSet team-b/old',
            'It asks for team-b/old, which is deleted: its works stay where they are.',
          ),
        ],
      }),
    ),
  ),
  unsatisfied: comment(
    planned(
      plan({
        placements: [
          placementPlan('team-b/many', {
            definitionChanged: true,
            added: [move('c2', 'rank 2 of 2 with 100 points')],
            kept: 1,
            after: {
              outcome: 'unsatisfied',
              selected: 2,
              unscheduled: 3,
              message: '2 of 5 clusters found; 3 clusters do not match the label region=eu',
            },
          }),
        ],
        findings: [
          finding('unsatisfied', 'warning', 'Placement team-b/many', 'It asks for 5 clusters and has 2.'),
        ],
      }),
    ),
  ),
  misconfigured: comment(
    planned(
      plan({
        placements: [
          placementPlan('team-b/wrong', {
            definitionChanged: true,
            removed: [move('c1'), move('c2')],
            held: {
              reason: 'Misconfigured',
              message: 'The placement is misconfigured; it keeps its 2 clusters.',
            },
            after: {
              outcome: 'misconfigured',
              selected: 0,
              message:
                'spec.predicates[0]: the CEL expression does not compile: undeclared reference to clustr',
            },
          }),
        ],
      }),
    ),
  ),
  'nobody-edited-it': comment(
    planned(plan({ placements: [drained], workloads: [workload('api', 'payments/api')] })),
  ),
  'what-if': comment(planned(plan({ placements: [drained], whatIf: ['--drain c1', '--lose region=eu'] })), {
    commands: undefined,
  }),
  'content-changes': comment(planned(plan({ placements: [], workloads: [content] }))),
  rollout: comment(
    planned(
      plan({
        placements: [],
        workloads: [content],
        rollouts: [
          {
            ...{
              kind: 'ManifestWorkReplicaSet',
              namespace: 'payments',
              name: 'api',
              placement: 'payments/api',
            },
            strategy: 'Progressive',
            waves: [
              { clusters: ['c1'], startsAfterMs: 0 },
              { clusters: ['c2', 'c3'], startsAfterMs: 300_000 },
              { clusters: ['c4'], startsAfterMs: 600_000 },
            ],
            moreWaves: 0,
            shortestMs: 900_000,
            deadlineMs: 600_000,
          },
        ],
      }),
    ),
  ),
  'applications-only': comment(
    planned(plan({ placements: [], objects: [], applications: [set('shop'), set('search')] })),
  ),
  'not-rendered': comment(
    planned(
      plan({
        placements: [drained],
        applications: [
          { ...set('charts'), applications: [], notRendered: 'the git generator reads another repository' },
        ],
        notEvaluated: [
          'ApplicationSet argocd/charts is not rendered: the git generator reads another repository',
          'Some files of the head cannot be read: the last good version of their objects counts.',
          'The hub as it was read last counts: ManagedClusters were last confirmed 400 s ago (limit 300 s).',
        ],
      }),
    ),
  ),
  'bound-hit': comment({
    kind: 'unplanned',
    message: 'the plan takes more than 1024 MiB of memory, and was stopped',
    hint: 'make the change smaller, or plan it with berth plan where there is more room',
  }),
  'groups-and-spread': comment(
    planned(
      plan({
        placements: [
          {
            ...placementPlan('team-a/spread', {
              definitionChanged: true,
              added: [move('c3', 'rank 3 of 4')],
              kept: 2,
              regrouped: ['c2'],
              after: {
                groups: [
                  { index: 0, name: 'canary', clusters: 1 },
                  { index: 1, name: '', clusters: 2 },
                ],
                spread: [
                  {
                    constraint: { topologyKey: 'region', topologyKeyType: 'Label', maxSkew: 1 },
                    skew: 2,
                  },
                ],
              },
            }),
          },
        ],
      }),
    ),
  ),
  'rules-changed': comment(
    planned(
      plan({
        placements: [drained],
        rules: {
          changed: true,
          base: [],
          head: [
            {
              name: 'two-regions',
              effect: 'deny',
              outcome: 'broken',
              message: 'Payments run in two regions.',
              owners: ['@payments'],
              location: { file: '.berth/rules.yaml', line: 2, column: 3 },
            },
          ],
        },
      }),
    ),
  ),
  'over-budget': comment(
    planned(
      plan({
        placements: [
          placementPlan('team-a/wide', {
            removed: ['c1', 'c2', 'c3'].map((name) =>
              plainMove(name, 'matchLabels.tier silver → gold', 'Placement team-a/wide'),
            ),
            kept: 1,
            held: {
              reason: 'RemovalBudgetExceeded',
              message: '3 of 4 clusters would be removed (budget 1): c1, c2, c3.',
            },
          }),
        ],
      }),
    ),
  ),
  'cluster-leaves': comment(
    planned(
      plan({
        placements: [drained],
        fleet: [
          { name: 'c1', sets: ['prod'], region: 'eu', change: 'removed' },
          { name: 'c2', sets: ['prod'], region: 'eu' },
          { name: 'c3', sets: ['prod'], region: 'us', change: 'added' },
        ],
        findings: [
          finding(
            'work-stranded',
            'danger',
            'ManagedCluster c1',
            'The cluster leaves the fleet with 2 workloads on it: what runs there is not removed.',
          ),
          finding(
            'unknown-to-argocd',
            'warning',
            'ApplicationSet argocd/shop',
            'Argo CD has no cluster Secret of c3, so that nothing is deployed there.',
          ),
        ],
      }),
    ),
  ),
  'large-fleet': comment(
    planned(
      plan({
        fleet: large,
        placements: [
          placementPlan('platform/agents', {
            definitionChanged: true,
            removed: leaving.map((name) =>
              plainMove(name, `tier silver → gold`, 'Placement platform/agents'),
            ),
            added: joining.map((name) => plainMove(name, `tier silver → gold`, 'Placement platform/agents')),
            kept: 120,
          }),
        ],
      }),
    ),
    { links: { report: 'https://berth.example/7.html?x', map: 'https://berth.example/7.svg?x' } },
  ),
  'strange-names': comment(
    planned(
      plan({
        placements: [
          placementPlan('team-a/a|b', {
            removed: [move('c1', '@team please see #12 <b>now</b> ![x](https://x.example/p.png)')],
            added: [move('c`2`', '\u202etxet\u202c | cells')],
          }),
        ],
      }),
    ),
  ),
  'add-on-template': comment(
    planned(
      plan({
        placements: [],
        workloads: [
          {
            ...workload('cluster-proxy', 'payments/api'),
            ...{ kind: 'ClusterManagementAddOn', namespace: '', change: 'changed', added: [], removed: [] },
            ...{ kept: 3, changedOn: ['c1', 'c2', 'c4'], manifestCount: 1 },
            manifests: [
              {
                change: 'changed',
                ref: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'proxy', name: 'agent' },
                fields: [
                  {
                    path: 'spec.template.spec.containers[0].image',
                    before: '"registry.example/proxy:v5"',
                    after: '"registry.example/proxy:v6"',
                  },
                ],
              },
              {
                change: 'changed',
                ref: {
                  apiVersion: 'addon/v1',
                  kind: 'ManagedClusterAddOn',
                  namespace: '',
                  name: 'cluster-proxy',
                },
                fields: [{ path: 'AddOnTemplate', before: '"proxy-v5"', after: '"proxy-v6"' }],
              },
            ],
          },
        ],
        rollouts: [
          {
            ...{
              kind: 'ClusterManagementAddOn',
              namespace: '',
              name: 'cluster-proxy',
              placement: 'payments/api',
            },
            strategy: 'Progressive',
            waves: [
              { clusters: ['c1'], startsAfterMs: 0 },
              { clusters: ['c2', 'c4'], startsAfterMs: 600_000 },
            ],
            ...{ moreWaves: 0, shortestMs: 1_200_000 },
          },
        ],
      }),
    ),
  ),
  'add-on-held': comment(
    planned(
      plan({
        placements: [drained],
        addOnsHeld: [
          {
            addOn: 'cluster-proxy',
            clusters: ['c1'],
            message: `1 of 4 clusters would lose add-on cluster-proxy, after 2 in the last minutes (budget 2): c1. They keep it. ${ADD_ON_REMEDY}`,
            remedy: ADD_ON_REMEDY,
            token: '1a1b2c3d4e5f',
          },
        ],
        waiting: [{ kind: 'add-on-held', subject: 'logs', clusters: ['c2', 'c4'] }],
      }),
    ),
  ),
  'add-on': comment(
    planned(
      plan({
        placements: [drained],
        workloads: [
          {
            ...workload('cluster-proxy', 'payments/api'),
            ...{ kind: 'ClusterManagementAddOn', namespace: '', manifestCount: 0 },
          },
        ],
      }),
    ),
  ),
};
