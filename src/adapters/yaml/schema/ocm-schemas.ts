import type { KindInfo } from '@berth/kube/model/kinds';
import {
  ADDON_PLACEMENT_SCORE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import { OCM_GROUPS, ocmSchema } from '@berth/ocm/definition/ocm-groups';
import { type Replacements, schemaFromOpenApi } from './from-open-api.ts';
import { condition, dnsLabel, kindSchema, metadataSchema, nullableTime } from './meta.ts';
import { any, between, list, object, oneOf, string, text } from './schema.ts';
import type { ObjectSchema } from './schema.ts';

/** Conditions that people write into the status of a cluster or a score rarely have all fields. */
const conditions = list(condition);
const atLeastZero = between(0, 2147483647);
const groupIndex = {
  '.spec.placementRefs[].rolloutStrategy.progressive.mandatoryDecisionGroups[].groupIndex': atLeastZero,
  '.spec.placementRefs[].rolloutStrategy.progressivePerGroup.mandatoryDecisionGroups[].groupIndex':
    atLeastZero,
};

/**
 * Rules for manifests that differ from those of a hub. Statuses that Berth writes are not read from
 * files. OCM's definitions accept any mode, operator and number of clusters, and a binding without
 * a set, for which its controllers have no useful behaviour.
 */
const REPLACEMENTS_BY_KIND: Readonly<Record<string, Replacements>> = {
  ManagedCluster: {
    '.spec.leaseDurationSeconds': atLeastZero,
    '.status.conditions': conditions,
    '.status.clusterClaims[]': object({ 'name!': string, 'value!': string }),
  },
  // OCM's controllers treat an empty string as the default.
  ManagedClusterSet: {
    '.spec.clusterSelector.selectorType': oneOf('ExclusiveClusterSetLabel', 'LabelSelector', ''),
    '.status': any,
  },
  ManagedClusterSetBinding: { '.spec': object({ 'clusterSet!': text({ minLength: 1 }) }), '.status': any },
  Placement: {
    '.spec.numberOfClusters': atLeastZero,
    '.spec.prioritizerPolicy.mode': oneOf('Additive', 'Exact', ''),
    '.spec.tolerations[].operator': oneOf('Equal', 'Exists', ''),
    '.status': any,
  },
  AddOnPlacementScore: { '.status.conditions': conditions, '.status.validUntil': nullableTime },
  ManifestWork: { '.status': any },
  ManifestWorkReplicaSet: { ...groupIndex, '.status': any },
};

/** A kind whose fields are known, and its supported version. */
export interface KnownKind {
  readonly info: KindInfo;
  readonly schema: ObjectSchema;
  /** What is wrong with a field that it does not have. Absent: the hub refuses the object. */
  readonly unknownField?: string;
}

export const OCM_MANIFESTS: readonly KnownKind[] = [
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  PLACEMENT_DECISION,
  ADDON_PLACEMENT_SCORE,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
].map((info) => ({ info, schema: manifestSchema(info) }));

function manifestSchema(info: KindInfo): ObjectSchema {
  const row = OCM_GROUPS[info.group]?.find(({ kind }) => kind === info.kind);
  const version = row?.versions.find(({ name }) => name === info.version);
  if (version === undefined) throw new Error(`OCM has no ${info.kind} of ${info.version}`);
  const derived = schemaFromOpenApi(ocmSchema(version), REPLACEMENTS_BY_KIND[info.kind] ?? {});
  if (derived.type !== 'object') throw new Error(`${info.kind} is not an object`);
  const fields = [...derived.fields].filter(([name]) => name === 'spec' || name === 'status');
  const isRequired = (name: string): boolean =>
    derived.required.includes(name) || (name === 'spec' && info === MANAGED_CLUSTER_SET_BINDING);
  // The name of a cluster is also the name of its namespace on the hub.
  const name = info === MANAGED_CLUSTER ? dnsLabel : undefined;
  return kindSchema(
    metadataSchema(name, info.namespaced),
    Object.fromEntries(fields.map(([name, schema]) => [isRequired(name) ? `${name}!` : name, schema])),
  );
}
