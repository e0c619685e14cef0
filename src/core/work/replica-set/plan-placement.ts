import { identityOf } from '@berth/kube/model/object-ref';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { PlacementReference } from '@berth/ocm/kind/manifest-work-replica-set';
import type { Placement } from '@berth/ocm/kind/placement';
import { planRollout, decisionGroups } from '../../rollout/plan-rollout.ts';
import type {
  ClusterRolloutStatus,
  RolloutGroup,
  RolloutRules,
  RolloutStatus,
} from '../../rollout/rollout-plan.ts';
import {
  childLabels,
  type ClusterWorks,
  matchesSpecs,
  renderChildWork,
  isAppliedAt,
} from './replica-set-child.ts';
import type { PlacementOutcome, ReplicaSetInput, WorkAction } from './replica-set-plan.ts';
import { type WorkProgress, workProgress } from './work-rollout-status.ts';

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

/** The works of one cluster, by part. */
type WorksByPart = ReadonlyMap<number, ManifestWork>;

/**
 * Moves manifests between works. When a template that is split over several works changes, it may
 * be split elsewhere, and some manifests then belong to another work. If one work dropped them
 * while the other added them, they could be deleted and created again on the cluster, because works
 * are applied independently. So a bridge work is created first, which contains the manifests that
 * leave a part, in their current form. It owns the objects together with the old work, and is
 * deleted when the new works have applied them. This takes two more steps, only if manifests move.
 * Rejected: keeping them in the old work meanwhile (it may become too large), and keeping each
 * manifest in its old part (the works would depend on history).
 */
interface Handover {
  /** Bridges to create, by part. */
  readonly build: ReadonlyMap<number, ManifestWorkSpec>;
  /** The parts may be written: no object would be without an owner. */
  readonly ready: boolean;
  /** Bridges to delete. */
  readonly remove: readonly ManifestWork[];
}

/** Parts from here on are bridges. */
const FIRST_BRIDGE_PART = 1000;

const NOTHING_MOVES: Handover = { build: new Map(), ready: true, remove: [] };

function planHandover(known: WorksByPart, specs: readonly ManifestWorkSpec[]): Handover {
  // One work before and after, or none before: most clusters, most of the time.
  if (known.size === 0 || (specs.length === 1 && known.size === 1 && known.has(0))) return NOTHING_MOVES;
  const newParts = new Map(
    specs.flatMap((spec, part) => manifestsOf(spec).map((manifest) => [identityOf(manifest), part] as const)),
  );
  const held = [...known].map(([part, work]): Held => ({ part, work, objects: appliedObjects(work) }));
  const parts = held.filter(({ part }) => part < FIRST_BRIDGE_PART);
  const bridges = held.filter(({ part }) => part >= FIRST_BRIDGE_PART);
  const byPart = new Map(held.map((one) => [one.part, one]));
  const isAppliedInNewPart = (key: string): boolean => {
    const newPart = newParts.get(key);
    return newPart === undefined || byPart.get(newPart)?.objects.get(key) === true;
  };
  const build = new Map<number, ManifestWorkSpec>();
  let next = Math.max(FIRST_BRIDGE_PART - 1, ...known.keys()) + 1;
  let ready = true;
  for (const { part, work } of parts) {
    const moving = manifestsOf(work.spec).filter((manifest) => {
      const key = identityOf(manifest);
      if (newParts.get(key) === part || isAppliedInNewPart(key)) return false;
      return !bridges.some(({ objects }) => objects.get(key) === true);
    });
    if (moving.length === 0) continue;
    ready = false;
    const unbridged = moving.filter(
      (manifest) => !bridges.some(({ objects }) => objects.has(identityOf(manifest))),
    );
    if (unbridged.length > 0) build.set(next++, { ...work.spec, workload: { manifests: unbridged } });
  }
  const done = bridges.filter(({ objects }) => [...objects.keys()].every(isAppliedInNewPart));
  return { build, ready, remove: done.map(({ work }) => work) };
}

function manifestsOf(spec: ManifestWorkSpec | undefined): readonly KubeObject[] {
  return spec?.workload?.manifests ?? [];
}

interface Held {
  readonly part: number;
  readonly work: ManifestWork;
  readonly objects: ReadonlyMap<string, boolean>;
}

/** The objects of a work, by key, and whether its cluster has applied the current version of each. */
function appliedObjects({ metadata, spec, status }: ManifestWork): ReadonlyMap<string, boolean> {
  const reported = new Map(
    status?.resourceStatus?.manifests?.map((one) => [one.resourceMeta.ordinal, one.conditions] as const),
  );
  const objects = new Map<string, boolean>();
  for (const [ordinal, manifest] of manifestsOf(spec).entries()) {
    const key = identityOf(manifest);
    if (!objects.has(key)) objects.set(key, isAppliedAt(metadata.generation, reported.get(ordinal)));
  }
  return objects;
}

/** By precedence: the first of these that a work has is the status of the cluster. */
const RANK: readonly RolloutStatus[] = ['ToApply', 'Failed', 'TimeOut', 'Progressing', 'Succeeded', 'Skip'];

/** Progress of a cluster whose manifests are spread over several works: the worst of them, since the latest change. */
function combineProgress(works: readonly ManifestWork[], rules: RolloutRules): WorkProgress {
  const all = works.map((work) => workProgress(work, rules));
  const worst = all.reduce((a, b) => (RANK.indexOf(b.status) < RANK.indexOf(a.status) ? b : a));
  if (all.length === 1) return worst;
  const equal = all.filter(({ status }) => status === worst.status);
  const times = equal.flatMap(({ lastTransitionMs }) => lastTransitionMs ?? []);
  const lastTransitionMs = times.length === 0 ? undefined : Math.max(...times);
  // One confirmed failure is enough.
  const unconfirmedUntilMs = Math.min(...equal.map((one) => one.unconfirmedUntilMs ?? 0));
  return { ...worst, lastTransitionMs, unconfirmedUntilMs };
}

interface ClusterPlan {
  readonly actions: readonly WorkAction[];
  readonly error?: string;
}

/**
 * Plans the writes for the wanted content of a cluster. If a handover must wait for the cluster, a
 * later pass continues.
 */
function planCluster(
  input: ReplicaSetInput,
  placement: string,
  cluster: string,
  existing: readonly ClusterWorks[],
): ClusterPlan {
  const wanted = input.specsFor(cluster);
  if (!wanted.ok) return { actions: [], error: wanted.error };
  const known = existing.find((group) => group.cluster === cluster)?.works ?? new Map<number, ManifestWork>();
  const write = (spec: ManifestWorkSpec, part: number): WorkAction => {
    const current = known.get(part);
    if (current === undefined)
      return {
        type: 'create',
        work: renderChildWork(input.replicaSet, { cluster, placement, part }, spec, input.now),
      };
    return { type: 'update', current, labels: childLabels(input.replicaSet, placement, part), spec };
  };
  const { build, ready, remove } = planHandover(known, wanted.specs);
  if (!ready) return { actions: [...build].map(([part, spec]) => write(spec, part)) };
  const surplus = [...known].filter(([part]) => part >= wanted.specs.length && part < FIRST_BRIDGE_PART);
  return {
    actions: [
      ...wanted.specs.map(write),
      ...[...surplus.map(([, work]) => work), ...remove].map(
        (current): WorkAction => ({ type: 'delete', current, reason: 'part is not needed any more' }),
      ),
    ],
  };
}

/** Whether there is a bridge work: the change of the cluster is in progress, and continues. */
function isHandingOver({ works }: ClusterWorks): boolean {
  for (const part of works.keys()) if (part >= FIRST_BRIDGE_PART) return true;
  return false;
}
