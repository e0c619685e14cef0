import type { JsonObject } from '@berth/runtime/json/json-value';
import { ADDON_KINDS } from './addon-kinds.ts';
import { CLUSTER_KINDS } from './cluster-kinds.ts';
import { GITOPS_KINDS } from './gitops-kinds.ts';
import type { OcmKind, OcmVersion } from './ocm-kind.ts';
import { object, string } from './schema-notation.ts';
import { WORK_KINDS } from './work-kinds.ts';

/** OCM's kinds by API group: the one description of their fields. */
export const OCM_GROUPS: Readonly<Record<string, readonly OcmKind[]>> = {
  'cluster.open-cluster-management.io': CLUSTER_KINDS,
  'work.open-cluster-management.io': WORK_KINDS,
  'addon.open-cluster-management.io': ADDON_KINDS,
  'apps.open-cluster-management.io': GITOPS_KINDS,
};

/** The `openAPIV3Schema` of one version. */
export function ocmSchema(version: OcmVersion): JsonObject {
  return object({ apiVersion: string(), kind: string(), metadata: { type: 'object' }, ...version.fields });
}
