import type { ManagedCluster } from '../../model/managed-cluster.ts';
import type { ManifestWorkReplicaSet, PlacementReference } from '../../model/manifest-work-replica-set.ts';
import type { ManifestWork, ManifestWorkSpec } from '../../model/manifest-work.ts';
import type { PlacementDecision } from '../../model/placement-decision.ts';
import type { Placement } from '../../model/placement.ts';
import { planRollout } from '../../rollout/plan-rollout.ts';
import { decisionGroups } from '../../rollout/rollout-groups.ts';
import type { ClusterRolloutStatus, RolloutGroup, RolloutRules } from '../../rollout/rollout-plan.ts';
import {
  childLabels,
  type ClusterWorks,
  groupChildren,
  holdsSpecs,
  renderChild,
} from './replica-set-child.ts';
import { combineProgress } from './combine-progress.ts';
import type { WorkProgress } from './work-rollout-status.ts';

/** What one ManifestWorkReplicaSet depends on. */
export interface ReplicaSetInput {
  readonly replicaSet: ManifestWorkReplicaSet;
  /** Placements of its namespace, by name; absent ones do not exist. */
  readonly placements: ReadonlyMap<string, Placement>;
  /** PlacementDecisions by placement name. */
  readonly decisions: ReadonlyMap<string, readonly PlacementDecision[]>;
  /** Every ManifestWork that carries its owner label. */
  readonly children: readonly ManifestWork[];
  /** The specs that a cluster shall get (several when one would be too large), or why it cannot get any. */
  readonly specsFor: (cluster: string) => ClusterSpecs;
  readonly nowMs: number;
  /** RFC 3339 of nowMs. */
  readonly now: string;
  readonly rules: RolloutRules;
  /** Nothing new starts; what is gone from the placement is still cleaned up. */
  readonly paused: boolean;
}

export type ClusterSpecs =
  | { readonly ok: true; readonly specs: readonly ManifestWorkSpec[] }
  | { readonly ok: false; readonly error: string };

/** For `specsFor` when the template speaks of the cluster. */
export type ClusterLookup = (cluster: string) => ManagedCluster | undefined;

export type WorkAction =
  | { readonly type: 'create'; readonly work: ManifestWork }
  /** `spec` absent: only labels change. */
  | {
      readonly type: 'update';
      readonly current: ManifestWork;
      readonly labels: Readonly<Record<string, string>>;
      readonly spec?: ManifestWorkSpec | undefined;
    }
  | { readonly type: 'delete'; readonly current: ManifestWork; readonly reason: string };

/** What became of one placement reference. */
export interface PlacementOutcome {
  readonly name: string;
  readonly state: 'planned' | 'placement-missing' | 'incomplete' | 'misconfigured';
  /** Why, when the state is not `planned`. */
  readonly message: string;
  readonly groups: number;
  readonly selected: number;
  /** Clusters with works that hold the wanted content, their progress, and those that timed out. */
  readonly upToDate: readonly ClusterWorks[];
  readonly existing: readonly ClusterWorks[];
  readonly succeeded: number;
  readonly timedOut: readonly string[];
  readonly failed: readonly string[];
  readonly maxFailureBreach: boolean;
}

export interface ReplicaSetPlan {
  readonly actions: readonly WorkAction[];
  readonly placements: readonly PlacementOutcome[];
  readonly recheckAfterMs: number | undefined;
}

/**
 * Decides which works to write and delete. A cluster loses its work only on complete knowledge: its placement exists, has
 * been scheduled, and its decisions hold as many clusters as its status says.
 */
export function planReplicaSet(input: ReplicaSetInput): ReplicaSetPlan {
  const groups = groupChildren(input.children);
  const kept = new Set(groups.flatMap((group) => [...group.works.values()]));
  const actions: WorkAction[] = input.children
    .filter((work) => !kept.has(work))
    .map((current) => ({ type: 'delete', current, reason: 'another work holds the same part' }));
  const referenced = new Set(input.replicaSet.spec.placementRefs.map(({ name }) => name));
  for (const group of groups.filter(({ placement }) => !referenced.has(placement)))
    actions.push(...deleteAll(group, `placement ${group.placement} is not referenced any more`));
  const outcomes: PlacementOutcome[] = [];
  let recheckAfterMs: number | undefined;
  for (const ref of uniqueRefs(input.replicaSet.spec.placementRefs)) {
    const planned = planPlacement(
      input,
      ref,
      groups.filter(({ placement }) => placement === ref.name),
    );
    actions.push(...planned.actions);
    outcomes.push(planned.outcome);
    if (planned.recheckAfterMs !== undefined)
      recheckAfterMs = Math.min(recheckAfterMs ?? Number.POSITIVE_INFINITY, planned.recheckAfterMs);
  }
  return { actions, placements: outcomes, recheckAfterMs };
}

/** A placement named twice is one placement: the first strategy counts. */
function uniqueRefs(refs: readonly PlacementReference[]): readonly PlacementReference[] {
  return refs.filter((ref, index) => refs.findIndex(({ name }) => name === ref.name) === index);
}

interface PlacementPlan {
  readonly actions: readonly WorkAction[];
  readonly outcome: PlacementOutcome;
  readonly recheckAfterMs?: number | undefined;
}

function planPlacement(
  input: ReplicaSetInput,
  ref: PlacementReference,
  existing: readonly ClusterWorks[],
): PlacementPlan {
  const nothing: PlacementOutcome = {
    name: ref.name,
    state: 'planned',
    message: '',
    groups: 0,
    selected: 0,
    upToDate: [],
    existing,
    succeeded: 0,
    timedOut: [],
    failed: [],
    maxFailureBreach: false,
  };
  const placement = input.placements.get(ref.name);
  if (placement === undefined) {
    const message = `Placement ${ref.name} does not exist`;
    return { actions: [], outcome: { ...nothing, state: 'placement-missing', message } };
  }
  const grouped = decisionGroups(input.decisions.get(ref.name) ?? []);
  if (!grouped.ok)
    return { actions: [], outcome: { ...nothing, state: 'misconfigured', message: grouped.error } };
  return rollOut({ input, ref, existing, placement, groups: grouped.value, nothing });
}

interface Rollout {
  readonly input: ReplicaSetInput;
  readonly ref: PlacementReference;
  readonly existing: readonly ClusterWorks[];
  readonly placement: Placement;
  readonly groups: readonly RolloutGroup[];
  readonly nothing: PlacementOutcome;
}

function rollOut({ input, ref, existing, placement, groups, nothing }: Rollout): PlacementPlan {
  const progress = new Map<string, WorkProgress>();
  const upToDate: ClusterWorks[] = [];
  for (const group of existing) {
    const wanted = input.specsFor(group.cluster);
    if (!wanted.ok || !holdsSpecs(group, wanted.specs)) continue;
    upToDate.push(group);
    progress.set(group.cluster, combineProgress([...group.works.values()], input.rules));
  }
  const statuses = [...progress].map(
    ([clusterName, { status, lastTransitionMs }]): ClusterRolloutStatus => ({
      clusterName,
      status,
      lastTransitionMs,
    }),
  );
  const strategy = { ...ref.rolloutStrategy, type: ref.rolloutStrategy?.type ?? 'All' };
  const plan = planRollout({ strategy, groups, existing: statuses, nowMs: input.nowMs, rules: input.rules });
  if (!plan.ok) return { actions: [], outcome: { ...nothing, state: 'misconfigured', message: plan.error } };
  const selected = new Set(groups.flatMap(({ clusters }) => clusters));
  // While decisions are being written a group may not be there yet: who comes first cannot be told.
  const early =
    strategy.type !== 'All' &&
    input.rules === 'berth' &&
    placement.status?.numberOfSelectedClusters !== selected.size;
  const due = plan.value.rollout.filter(({ status }) => status === 'ToApply');
  const starting = input.paused || early ? [] : due;
  const writes = starting.map(({ clusterName }) => writeCluster(input, ref.name, clusterName, existing));
  const complete = isComplete(placement, selected.size);
  const leaving = existing.filter(({ cluster }) => !selected.has(cluster));
  const errors = writes.flatMap(({ error }) => error ?? []);
  const waiting = new Set(plan.value.rollout.map(({ clusterName }) => clusterName));
  const succeeded = [...progress].filter(
    ([cluster, { status }]) => status === 'Succeeded' && selected.has(cluster) && !waiting.has(cluster),
  );
  return {
    actions: [
      ...writes.flatMap(({ actions }) => actions),
      ...relabel(input, existing, new Set(starting.map(({ clusterName }) => clusterName))),
      ...(complete
        ? leaving.flatMap((group) => deleteAll(group, 'the placement does not select the cluster'))
        : []),
    ],
    outcome: {
      ...nothing,
      ...verdict(errors, (complete || leaving.length === 0) && !(early && due.length > 0), ref.name),
      groups: groups.length,
      selected: selected.size,
      upToDate,
      succeeded: succeeded.length,
      timedOut: plan.value.timedOut.map(({ clusterName }) => clusterName),
      failed: [...progress].filter(([, { status }]) => status === 'Failed').map(([cluster]) => cluster),
      maxFailureBreach: plan.value.maxFailureBreach,
    },
    recheckAfterMs: plan.value.recheckAfterMs,
  };
}

/** Decisions are written in several objects: fewer clusters than the status says means that not all are here. */
function isComplete(placement: Placement, selected: number): boolean {
  const expected = placement.status?.numberOfSelectedClusters;
  return expected !== undefined && selected >= expected;
}

function verdict(
  errors: readonly string[],
  complete: boolean,
  placement: string,
): Pick<PlacementOutcome, 'state' | 'message'> {
  if (errors[0] !== undefined) return { state: 'misconfigured', message: errors.join('; ') };
  if (complete) return { state: 'planned', message: '' };
  return {
    state: 'incomplete',
    message: `the decisions of Placement ${placement} are not complete yet: nothing starts and nothing is removed`,
  };
}

function writeCluster(
  input: ReplicaSetInput,
  placement: string,
  cluster: string,
  existing: readonly ClusterWorks[],
): { readonly actions: readonly WorkAction[]; readonly error?: string } {
  const wanted = input.specsFor(cluster);
  if (!wanted.ok) return { actions: [], error: wanted.error };
  const known = existing.find((group) => group.cluster === cluster)?.works ?? new Map<number, ManifestWork>();
  const actions = wanted.specs.map((spec, part): WorkAction => {
    const current = known.get(part);
    if (current === undefined)
      return {
        type: 'create',
        work: renderChild(input.replicaSet, { cluster, placement, part }, spec, input.now),
      };
    return { type: 'update', current, labels: childLabels(input.replicaSet, placement, part), spec };
  });
  const surplus = [...known].filter(([part]) => part >= wanted.specs.length);
  // Parts that are not needed any more go last: their manifests have moved to parts that are written first.
  return {
    actions: [
      ...actions,
      ...surplus.map(
        ([, current]): WorkAction => ({ type: 'delete', current, reason: 'part is not needed any more' }),
      ),
    ],
  };
}

/** Labels of the replica set reach every work at once: they are not content, no rollout decides about them. */
function relabel(
  input: ReplicaSetInput,
  existing: readonly ClusterWorks[],
  written: ReadonlySet<string>,
): readonly WorkAction[] {
  const actions: WorkAction[] = [];
  for (const { cluster, placement, works } of existing) {
    if (written.has(cluster)) continue;
    for (const [part, current] of works) {
      const labels = childLabels(input.replicaSet, placement, part);
      if (!sameLabels(current.metadata.labels ?? {}, labels))
        actions.push({ type: 'update', current, labels });
    }
  }
  return actions;
}

function sameLabels(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key])
  );
}

function deleteAll(group: ClusterWorks, reason: string): readonly WorkAction[] {
  return [...group.works.values()].map((current) => ({ type: 'delete', current, reason }));
}
