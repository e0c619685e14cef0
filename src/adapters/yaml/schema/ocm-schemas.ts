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
import { integer, listOf, object, string } from '@berth/ocm/definition/schema-notation';
import type { JsonObject } from '@berth/runtime/json/json-value';
import { condition, dnsLabel, kindSchema, metadataSchema, nullableTime } from './meta.ts';
import type { Schema } from './schema.ts';

/** Schemas that replace those of a hub, by path: `.spec.tolerations[].operator`. */
type Replacements = Readonly<Record<string, JsonObject>>;

/** Conditions that people write into the status of a cluster or a score rarely have all fields. */
const conditions = listOf(condition);
const atLeastZero = integer({ minimum: 0, maximum: 2147483647 });
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
    '.status.clusterClaims[]': object({ 'name!': string(), 'value!': string() }),
  },
  // OCM's controllers treat an empty string as the default.
  ManagedClusterSet: {
    '.spec.clusterSelector.selectorType': string({ enum: ['ExclusiveClusterSetLabel', 'LabelSelector', ''] }),
    '.status': {},
  },
  ManagedClusterSetBinding: { '.spec': object({ 'clusterSet!': string({ minLength: 1 }) }), '.status': {} },
  Placement: {
    '.spec.numberOfClusters': atLeastZero,
    '.spec.prioritizerPolicy.mode': string({ enum: ['Additive', 'Exact', ''] }),
    '.spec.tolerations[].operator': string({ enum: ['Equal', 'Exists', ''] }),
    '.status': {},
  },
  AddOnPlacementScore: { '.status.conditions': conditions, '.status.validUntil': nullableTime },
  ManifestWork: { '.status': {} },
  ManifestWorkReplicaSet: { ...groupIndex, '.status': {} },
};

/** A kind whose fields are known, and its supported version. */
export interface KnownKind {
  readonly info: KindInfo;
  readonly schema: Schema;
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

function manifestSchema(info: KindInfo): JsonObject {
  const row = OCM_GROUPS[info.group]?.find(({ kind }) => kind === info.kind);
  const version = row?.versions.find(({ name }) => name === info.version);
  if (version === undefined) throw new Error(`OCM has no ${info.kind} of ${info.version}`);
  const { properties, required = [] } = withReplacements(
    ocmSchema(version),
    REPLACEMENTS_BY_KIND[info.kind] ?? {},
  ) as { properties: Record<string, JsonObject>; required?: string[] };
  const isRequired = (name: string): boolean =>
    required.includes(name) || (name === 'spec' && info === MANAGED_CLUSTER_SET_BINDING);
  const fields = ['spec', 'status'].flatMap((name) =>
    properties[name] === undefined ? [] : [[isRequired(name) ? `${name}!` : name, properties[name]] as const],
  );
  // The name of a cluster is also the name of its namespace on the hub.
  const name = info === MANAGED_CLUSTER ? dnsLabel : undefined;
  return kindSchema(metadataSchema(name, info.namespaced), Object.fromEntries(fields));
}

/** @throws Error for a path that is not in the schema, which is a bug */
export function withReplacements(schema: JsonObject, replacements: Replacements): JsonObject {
  // Definitions share parts of each other, and a replacement is for one place.
  const copy = JSON.parse(JSON.stringify(schema)) as JsonObject;
  for (const [path, replacement] of Object.entries(replacements)) {
    const steps = path.match(/[^.[]+|\[\]/g) ?? [];
    let at: JsonObject | undefined = copy;
    let [holder, last]: [JsonObject | undefined, string] = [undefined, ''];
    for (const step of steps) {
      [holder, last] = step === '[]' ? [at, 'items'] : [at?.['properties'] as JsonObject | undefined, step];
      at = holder?.[last] as JsonObject | undefined;
    }
    if (holder === undefined || at === undefined) throw new Error(`the schema has no field ${path}`);
    // A field with a default may be left out, whatever it may hold.
    holder[last] = 'default' in at ? { ...replacement, default: at['default'] } : replacement;
  }
  return copy;
}
