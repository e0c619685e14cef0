import { findCondition } from '@berth/kube/model/condition-list';
import { type KindInfo, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { MANIFEST_WORK_FINALIZER, type ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import { ADDON_PRE_DELETE_FINALIZER } from '@berth/ocm/registration/addon-names';
import {
  AVAILABLE,
  CLUSTER_CONDITIONS,
  DELETING,
  resourceRemains,
} from '@berth/ocm/registration/cluster-conditions';
import { CLEANUP_PRIORITY_ANNOTATION } from '@berth/ocm/registration/names';
import { graceMs } from './health/judge-lease.ts';

/** A reason why what runs on a cluster that is being deleted must stay. */
export interface DeletionHold {
  /** For users: who holds it, and how the hold ends. */
  readonly text: string;
  /** False: the decision is only under way, and nobody needs to act. */
  readonly isHeld: boolean;
}

/** Condition reason, and reason of the Event. */
export const REMOVAL_HELD = 'RemovalHeld';

/** The condition of a cluster whose deletion waits. */
export function deletionWaits(holds: readonly DeletionHold[]): Condition {
  const isHeld = holds.some((hold) => hold.isHeld);
  return {
    type: DELETING,
    status: 'False',
    reason: isHeld ? REMOVAL_HELD : 'StillSelected',
    message: `Nothing is removed from the cluster yet: ${holds.map(({ text }) => text).join('; ')}`,
  };
}

/** Objects of one kind in the namespace of a cluster that is being deleted. */
interface LeftOver {
  readonly kind: KindInfo;
  readonly objects: readonly KubeObject[];
}

export interface CleanupPlan {
  /** Objects to delete now. */
  readonly kind: KindInfo | undefined;
  readonly deletions: readonly KubeObject[];
  readonly condition: Condition;
  readonly isFinished: boolean;
}

const HIGHEST_PRIORITY = 100;

/**
 * Deletes the objects of a cluster kind by kind, and within a kind by priority: only the objects with the lowest number
 * are deleted, and the others wait until these are gone.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/gc`.
 *
 * @param leftOvers in the order of deletion
 */
export function planCleanup(leftOvers: readonly LeftOver[]): CleanupPlan {
  const next = leftOvers.find(({ objects }) => objects.length > 0);
  if (next === undefined)
    return {
      kind: undefined,
      deletions: [],
      condition: CLUSTER_CONDITIONS.nothingRemains,
      isFinished: true,
    };
  const { kind, objects } = next;
  const lowest = Math.min(...objects.map(cleanupPriority));
  const withFinalizers = objects.filter(({ metadata }) => (metadata.finalizers ?? []).length > 0).length;
  return {
    kind,
    deletions: objects.filter(
      (object) => cleanupPriority(object) === lowest && object.metadata.deletionTimestamp === undefined,
    ),
    condition: resourceRemains(kind.plural, objects.length, withFinalizers),
    isFinished: false,
  };
}

/** 0 to 100. Any other value counts as 0, so that a misspelt number delays nothing. */
export function cleanupPriority({ metadata }: KubeObject): number {
  const text = metadata.annotations?.[CLEANUP_PRIORITY_ANNOTATION] ?? '';
  const number = /^[+-]?\d+$/.test(text) ? Number(text) : 0;
  return number >= 0 && number <= HIGHEST_PRIORITY ? number : 0;
}

/** What only an agent on the cluster removes: after it has deleted the objects, and run the hooks of an add-on. */
const AGENT_FINALIZERS: ReadonlySet<string> = new Set([MANIFEST_WORK_FINALIZER, ADDON_PRE_DELETE_FINALIZER]);

/**
 * What says that the agent of a cluster runs. The hub's own judgement counts, and the time in the Lease, so that neither a hub
 * where nobody judges nor a wrong clock makes a living cluster a lost one.
 * @param lease of the agent; undefined: it has none
 * @param nowMs wall clock, milliseconds since the epoch
 * @returns a sentence for users; undefined: the agent is silent
 */
export function signOfLife(
  cluster: ManagedCluster,
  lease: KubeObject | undefined,
  nowMs: number,
): string | undefined {
  if (findCondition(cluster.status?.conditions, AVAILABLE)?.status === 'True')
    return `the hub reports it as available (${AVAILABLE} is True)`;
  const { renewTime = '' } = (lease?.['spec'] ?? {}) as { readonly renewTime?: string };
  const ageMs = nowMs - Date.parse(renewTime);
  const grace = graceMs(cluster);
  // A time that cannot be parsed is no renewal.
  return ageMs < grace
    ? `its agent renewed its Lease at ${renewTime}, less than ${grace / 1000} s ago`
    : undefined;
}

/** The finalizers that stay when nobody waits for the agent any more; undefined: the object does not wait for it. */
export function finalizersWithoutAgent({ metadata }: KubeObject): readonly string[] | undefined {
  const { finalizers = [], deletionTimestamp } = metadata;
  if (deletionTimestamp === undefined) return undefined;
  const kept = finalizers.filter((name) => !AGENT_FINALIZERS.has(name));
  return kept.length < finalizers.length ? kept : undefined;
}

/** What a cluster keeps of a work or an add-on that its agent does not remove, for users. */
export function keptOnCluster({ kind }: KindInfo, object: KubeObject): string {
  const title = `${kind} ${object.metadata.name}`;
  if (kind !== MANIFEST_WORK.kind) return `${title}: its hooks before the deletion did not run`;
  const { workload } = (object['spec'] ?? {}) as ManifestWorkSpec;
  const manifests = workload?.manifests ?? [];
  return `${title}: ${manifests.map((one) => `${one.kind} ${namespacedName(one.metadata)}`).join(', ')}`;
}
