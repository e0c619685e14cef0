import type { ManifestWorkReplicaSet } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import { splitManifests } from '../manifests/split-manifests.ts';
import type { ClusterLookup, ClusterSpecs } from './replica-set-plan.ts';
import { SUBSTITUTE_ANNOTATION, substituteCluster } from './substitute-cluster.ts';

/**
 * The work specs of each cluster: the template, split if it is too large for one work, and with the
 * cluster's values if the replica set uses substitution.
 */
export function clusterSpecs(
  replicaSet: ManifestWorkReplicaSet,
  template: ManifestWorkSpec,
  lookup: ClusterLookup,
): (cluster: string) => ClusterSpecs {
  if (replicaSet.metadata.annotations?.[SUBSTITUTE_ANNOTATION] !== 'true') {
    const shared = splitCached(template);
    return () => shared;
  }
  const known = new Map<string, ClusterSpecs>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const made = forCluster(template, name, lookup);
    known.set(name, made);
    return made;
  };
}

function forCluster(template: ManifestWorkSpec, name: string, lookup: ClusterLookup): ClusterSpecs {
  const cluster = lookup(name);
  if (cluster === undefined)
    return { ok: false, error: `ManagedCluster ${name} does not exist: its values are not known` };
  const substituted = substituteCluster(template, cluster);
  return substituted.ok ? split(substituted.spec) : { ok: false, error: substituted.errors.join('; ') };
}

/**
 * The same template object gives the same spec objects, because comparisons of works are cached by
 * identity.
 */
const SPLIT = new WeakMap<ManifestWorkSpec, ClusterSpecs>();

function splitCached(template: ManifestWorkSpec): ClusterSpecs {
  const known = SPLIT.get(template) ?? split(template);
  SPLIT.set(template, known);
  return known;
}

function split(template: ManifestWorkSpec): ClusterSpecs {
  const manifests = template.workload?.manifests ?? [];
  const parts = splitManifests(manifests);
  if (!parts.ok) {
    const { kind, metadata } = manifests[parts.index] ?? { kind: '', metadata: { name: '' } };
    const text = `manifest ${parts.index} (${kind} ${metadata.name}) has ${parts.sizeBytes} bytes, more than one work can hold`;
    return { ok: false, error: text };
  }
  if (parts.parts.length === 1) return { ok: true, specs: [template] };
  return { ok: true, specs: parts.parts.map((part) => ({ ...template, workload: { manifests: part } })) };
}
