import type { PlacementReference } from '@berth/ocm/kind/manifest-work-replica-set';
import type { Placement } from '@berth/ocm/kind/placement';
import { planRollout } from '../../rollout/plan-rollout.ts';
import { decisionGroups } from '../../rollout/rollout-groups.ts';
import type { ClusterRolloutStatus, RolloutGroup } from '../../rollout/rollout-plan.ts';
import { combineProgress } from './combine-progress.ts';
import { isHandingOver, planCluster } from './plan-cluster.ts';
import { childLabels, type ClusterWorks, matchesSpecs } from './replica-set-child.ts';
import type { PlacementOutcome, ReplicaSetInput, WorkAction } from './replica-set-plan.ts';
import type { WorkProgress } from './work-rollout-status.ts';

export interface PlacementPlan {
  readonly actions: readonly WorkAction[];
  /** Works on clusters that the placement does not select; empty while that is not known for sure. */
  readonly leaving: readonly ClusterWorks[];
  readonly outcome: PlacementOutcome;
  readonly recheckAfterMs?: number | undefined;
}

/** Plans one placement reference: works to write, works to delete, and its status. */
export function planPlacement(
  input: ReplicaSetInput,
  ref: PlacementReference,
  existing: readonly ClusterWorks[],
): PlacementPlan {
  const emptyOutcome: PlacementOutcome = {
    name: ref.name,
    state: 'planned',
    message: '',
    groups: 0,
    selected: 0,
    clusters: new Set(),
    withoutWork: [],
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
    return { actions: [], leaving: [], outcome: { ...emptyOutcome, state: 'placement-missing', message } };
  }
  const grouped = decisionGroups(input.decisions.get(ref.name) ?? []);
  if (!grouped.ok)
    return {
      actions: [],
      leaving: [],
      outcome: { ...emptyOutcome, state: 'misconfigured', message: grouped.error },
    };
  return rollOut({ input, ref, existing, placement, groups: grouped.value, emptyOutcome });
}

interface Rollout {
  readonly input: ReplicaSetInput;
  readonly ref: PlacementReference;
  readonly existing: readonly ClusterWorks[];
  readonly placement: Placement;
  readonly groups: readonly RolloutGroup[];
  readonly emptyOutcome: PlacementOutcome;
}

function rollOut({ input, ref, existing, placement, groups, emptyOutcome }: Rollout): PlacementPlan {
  const progress = new Map<string, WorkProgress>();
  const upToDate: ClusterWorks[] = [];
  for (const group of existing) {
    const wanted = input.specsFor(group.cluster);
    const works = [...group.works.values()];
    const reported = confirmed(combineProgress(works, input.rules), input.nowMs);
    if (isHandingOver(group)) progress.set(group.cluster, asProgressing(reported));
    if (!wanted.ok || !matchesSpecs(group, wanted.specs)) continue;
    upToDate.push(group);
    progress.set(group.cluster, reported);
  }
  const statuses = [...progress].map(
    ([clusterName, { status, lastTransitionMs }]): ClusterRolloutStatus => ({
      clusterName,
      status,
      lastTransitionMs,
    }),
  );
  const strategy = { ...ref.rolloutStrategy, type: ref.rolloutStrategy?.type ?? 'All' };
  const open = groups.map((group) => ({ ...group, clusters: group.clusters.filter(input.takesWork) }));
  const { nowMs, rules } = input;
  const plan = planRollout({ strategy, groups: open, existing: statuses, nowMs, rules });
  if (!plan.ok)
    return {
      actions: [],
      leaving: [],
      outcome: { ...emptyOutcome, state: 'misconfigured', message: plan.error },
    };
  const selected = new Set(groups.flatMap(({ clusters }) => clusters));
  // While decisions are being written, a group may be missing, so the order is not known.
  const isOrderUnknown =
    strategy.type !== 'All' &&
    input.rules === 'berth' &&
    placement.status?.numberOfSelectedClusters !== selected.size;
  const due = plan.value.rollout.filter(({ status }) => status === 'ToApply');
  const starting = input.paused || isOrderUnknown ? [] : due;
  const handingOver = existing.filter((group) => isHandingOver(group) && selected.has(group.cluster));
  const continuing = handingOver.map(({ cluster }) => cluster).filter(input.takesWork);
  const writing = new Set([...starting.map(({ clusterName }) => clusterName), ...continuing]);
  const writes = [...writing].map((cluster) => planCluster(input, ref.name, cluster, existing));
  const complete = isComplete(placement, selected.size);
  const leaving = existing.filter(({ cluster }) => !selected.has(cluster));
  const errors = writes.flatMap(({ error }) => error ?? []);
  const waiting = new Set(plan.value.rollout.map(({ clusterName }) => clusterName));
  const succeeded = [...progress].filter(
    ([cluster, { status }]) =>
      status === 'Succeeded' && selected.has(cluster) && input.takesWork(cluster) && !waiting.has(cluster),
  );
  return {
    actions: [...writes.flatMap(({ actions }) => actions), ...relabel(input, existing, writing)],
    leaving: complete ? leaving : [],
    outcome: {
      ...emptyOutcome,
      ...verdict(errors, (complete || leaving.length === 0) && !(isOrderUnknown && due.length > 0), ref.name),
      groups: groups.length,
      selected: selected.size,
      clusters: selected,
      withoutWork: [...selected].filter((cluster) => !input.takesWork(cluster)),
      upToDate,
      succeeded: succeeded.length,
      timedOut: plan.value.timedOut.map(({ clusterName }) => clusterName),
      failed: [...progress].filter(([, { status }]) => status === 'Failed').map(([cluster]) => cluster),
      maxFailureBreach: plan.value.maxFailureBreach,
    },
    recheckAfterMs: earliest([plan.value.recheckAfterMs, ...confirmations(progress, input.nowMs)]),
  };
}

/** A failure that is not confirmed yet counts as in progress. */
function confirmed(progress: WorkProgress, nowMs: number): WorkProgress {
  const isOpen = (progress.unconfirmedUntilMs ?? 0) > nowMs;
  return isOpen ? { ...progress, status: 'Progressing' } : progress;
}

function confirmations(progress: ReadonlyMap<string, WorkProgress>, nowMs: number): readonly number[] {
  return [...progress.values()]
    .map(({ unconfirmedUntilMs }) => (unconfirmedUntilMs ?? 0) - nowMs)
    .filter((waitMs) => waitMs > 0);
}

function earliest(waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** A cluster with manifests that move between works counts as in progress, whatever its works report. */
function asProgressing(progress: WorkProgress): WorkProgress {
  return progress.status === 'Failed' ? progress : { ...progress, status: 'Progressing' };
}

/**
 * Decisions are in several objects: fewer clusters than in the status means that some are missing.
 */
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

/**
 * Labels of the replica set are copied to all works immediately, independent of the rollout, since
 * they are not content.
 */
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
