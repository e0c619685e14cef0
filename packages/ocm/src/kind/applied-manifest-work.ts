import type { ObjectMeta } from '@berth/kube/model/object-meta';

/** work.open-cluster-management.io/v1, on the managed cluster: what one ManifestWork applied there. */
export interface AppliedManifestWork {
  readonly apiVersion: string;
  readonly kind: 'AppliedManifestWork';
  readonly metadata: ObjectMeta;
  readonly spec: AppliedManifestWorkSpec;
  readonly status?: AppliedManifestWorkStatus | undefined;
}

export interface AppliedManifestWorkSpec {
  /** Lower-case hex SHA-256 of the hub's server URL, verbatim. */
  readonly hubHash: string;
  readonly agentID?: string | undefined;
  readonly manifestWorkName: string;
}

export interface AppliedManifestWorkStatus {
  readonly appliedResources?: readonly AppliedResource[] | undefined;
  readonly evictionStartTime?: string | undefined;
}

export interface AppliedResource {
  readonly group?: string | undefined;
  readonly version: string;
  readonly resource: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
}

export const APPLIED_MANIFEST_WORK_FINALIZER =
  'cluster.open-cluster-management.io/applied-manifest-work-cleanup';
