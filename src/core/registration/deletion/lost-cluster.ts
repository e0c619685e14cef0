import { findCondition } from '@berth/kube/model/condition-list';
import { type KindInfo, MANIFEST_WORK } from '@berth/kube/model/kinds';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { MANIFEST_WORK_FINALIZER, type ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import { ADDON_PRE_DELETE_FINALIZER } from '@berth/ocm/registration/addon-names';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
import { graceMs } from '../health/judge-lease.ts';

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
