import {
  ADDON_PLACEMENT_SCORE,
  apiVersionOf,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '../../../core/model/kinds.ts';
import type { KindInfo } from '../../../core/model/kinds.ts';
import { PLACEMENT_TEST } from '../../../core/placement-test/placement-test.ts';
import {
  addOnPlacementScore,
  managedCluster,
  managedClusterSet,
  managedClusterSetBinding,
  placementDecision,
} from './cluster.ts';
import { placement } from './placement.ts';
import { placementTest } from './placement-test.ts';
import type { ObjectSchema } from './schema.ts';
import { manifestWork, manifestWorkReplicaSet } from './work.ts';

/** A kind whose fields we know, and the one version of it that we read. */
export interface KnownKind {
  readonly info: KindInfo;
  readonly schema: ObjectSchema;
}

const KNOWN: readonly KnownKind[] = [
  { info: MANAGED_CLUSTER, schema: managedCluster },
  { info: MANAGED_CLUSTER_SET, schema: managedClusterSet },
  { info: MANAGED_CLUSTER_SET_BINDING, schema: managedClusterSetBinding },
  { info: PLACEMENT, schema: placement },
  { info: PLACEMENT_DECISION, schema: placementDecision },
  { info: ADDON_PLACEMENT_SCORE, schema: addOnPlacementScore },
  { info: MANIFEST_WORK, schema: manifestWork },
  { info: MANIFEST_WORK_REPLICA_SET, schema: manifestWorkReplicaSet },
  { info: PLACEMENT_TEST, schema: placementTest },
];

const BY_TYPE = new Map(KNOWN.map((known) => [`${apiVersionOf(known.info)} ${known.info.kind}`, known]));
const BY_GROUP_KIND = new Map(KNOWN.map((known) => [`${known.info.group} ${known.info.kind}`, known]));

/** The kind an object says it is: `known`, `other-version` of a kind we know, or `unknown`. */
export type KindLookup =
  | { readonly state: 'known'; readonly known: KnownKind }
  | { readonly state: 'other-version'; readonly expected: string }
  | { readonly state: 'unknown' };

export function lookUpKind(apiVersion: string, kind: string): KindLookup {
  const known = BY_TYPE.get(`${apiVersion} ${kind}`);
  if (known !== undefined) return { state: 'known', known };
  const sameKind = BY_GROUP_KIND.get(`${apiVersion.split('/')[0] ?? ''} ${kind}`);
  if (sameKind !== undefined) return { state: 'other-version', expected: apiVersionOf(sameKind.info) };
  return { state: 'unknown' };
}

/** Kind names, for "did you mean". */
export const KNOWN_KIND_NAMES: readonly string[] = KNOWN.map((known) => known.info.kind);

/** Their groups, for the same. */
export const KNOWN_GROUPS: readonly string[] = [...new Set(KNOWN.map((known) => known.info.group))];
