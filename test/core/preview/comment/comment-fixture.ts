import type { Problem } from '@berth/runtime/problem/problem';
import { sha256 } from '@berth/runtime/sha256';
import { fleetMap } from '../../../../src/core/preview/comment/fleet-map.ts';
import type { PreviewOutcome } from '../../../../src/core/preview/comment/preview-outcome.ts';
import type { PreviewComment } from '../../../../src/core/preview/comment/render-comment.ts';
import type {
  ClusterMove,
  PlacementPlan,
  PlacementSide,
  Plan,
  WorkloadPlan,
} from '../../../../src/core/preview/plan.ts';

/** Each is in the set of its label, and in the one of all clusters. */
const FLEET: Plan['fleet'] = [
  { name: 'c1', sets: ['prod', 'global'], region: 'eu' },
  { name: 'c2', sets: ['prod', 'global'], region: 'eu' },
  { name: 'c3', sets: ['prod', 'global'], region: 'us' },
  { name: 'c4', sets: ['test', 'global'], region: undefined },
];

export const move = (cluster: string, because = '', ...causes: readonly string[]): ClusterMove => ({
  cluster,
  because,
  causes,
});

/** A cluster that moves because of a change that is known in plain words. */
export const plainMove = (cluster: string, why: string, cause: string): ClusterMove => ({
  ...move(cluster, 'outranked', cause),
  why,
});

const side = (clusters: readonly string[], over: Partial<PlacementSide> = {}): PlacementSide => ({
  outcome: 'scheduled',
  selected: clusters.length,
  clusters,
  groups: [],
  spread: [],
  unscheduled: 0,
  message: '',
  ...over,
});

/** @param key `namespace/name` */
export function placementPlan(
  key: string,
  over: Partial<Omit<PlacementPlan, 'after'>> & { readonly after?: Partial<PlacementSide> } = {},
): PlacementPlan {
  const [namespace = '', name = ''] = key.split('/');
  const { after, ...rest } = over;
  const { added = [], removed = [], kept = 0, change = 'changed' } = rest;
  const [come, gone] = [added, removed].map((list) => list.map(({ cluster }) => cluster));
  const moving = new Set([...(come ?? []), ...(gone ?? [])]);
  const names = [...FLEET.map(({ name }) => name), ...Array.from({ length: kept }, (_, at) => `c${at + 5}`)];
  const stay = names.filter((name) => !moving.has(name)).slice(0, kept);
  return {
    namespace,
    name,
    change,
    definitionChanged: false,
    before: change === 'created' ? undefined : side([...stay, ...(gone ?? [])]),
    after: change === 'deleted' ? undefined : side([...stay, ...(come ?? [])], after),
    moves: [],
    affectedBy: [],
    regrouped: [],
    token: '0a1b2c3d4e5f',
    ...rest,
    added,
    removed,
    kept,
  };
}

export const workload = (name: string, placement: string): WorkloadPlan => ({
  kind: 'ManifestWorkReplicaSet',
  namespace: 'team-a',
  name,
  change: 'moved',
  placements: [placement],
  added: ['c3'],
  removed: ['c1'],
  kept: 1,
  changedOn: [],
  manifestCount: 1,
  manifests: [],
});

export function plan(over: Partial<Plan>): Plan {
  const { placements = [] } = over;
  const count = (of: 'added' | 'removed'): number => placements.reduce((sum, one) => sum + one[of].length, 0);
  return {
    base: { name: 'main', commit: 'b'.repeat(40) },
    head: { name: 'a'.repeat(40), commit: 'a'.repeat(40) },
    now: '2026-03-01T12:00:00Z',
    hasChanges: true,
    summary: {
      placements: 4,
      placementsChanged: placements.length,
      clusters: FLEET.length,
      added: count('added'),
      removed: count('removed'),
      held: placements.filter(({ held }) => held !== undefined).length,
    },
    workloads: [],
    objects: [
      {
        change: 'changed',
        ref: { apiVersion: 'v1', kind: 'ManagedCluster', namespace: '', name: 'c1' },
        fields: ['spec.taints'],
      },
    ],
    waiting: [],
    later: [],
    deletionsHeld: [],
    addOnsHeld: [],
    lostFiles: [],
    applications: [],
    rollouts: [],
    findings: [],
    whatIf: [],
    clusters: [],
    fleet: FLEET,
    decisions: [],
    notEvaluated: [],
    ...over,
    placements,
  };
}

export const planned = (
  of: Plan,
  problems: readonly Problem[] = [],
  summaryOnly = false,
): PreviewOutcome & { readonly kind: 'planned' } => ({ kind: 'planned', plan: of, problems, summaryOnly });

export function comment(outcome: PreviewOutcome, over: Partial<PreviewComment> = {}): PreviewComment {
  return {
    marker: 'berth:preview:fleet',
    outcome,
    head: 'a'.repeat(40),
    approvals: [],
    commands: { digest: sha256, rules: { approvers: 'write', selfApproval: false } },
    notes: [],
    map: outcome.kind === 'planned' ? fleetMap(outcome.plan) : undefined,
    maxLength: 60_000,
    ...over,
  };
}
