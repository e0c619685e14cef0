import { kind, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';

const ARGOCD = 'argoproj.io';
const APPS = 'apps.open-cluster-management.io';

export const APPLICATION_SET = kind(ARGOCD, 'v1alpha1', 'ApplicationSet', 'Namespaced');
export const APPLICATION = kind(ARGOCD, 'v1alpha1', 'Application', 'Namespaced');
export const APP_PROJECT = kind(ARGOCD, 'v1alpha1', 'AppProject', 'Namespaced');

/** OCM's summary of the Applications of one ApplicationSet (open-cluster-management-io/multicloud-integrations). */
export const APPLICATION_SET_REPORT = kind(
  APPS,
  'v1alpha1',
  'MulticlusterApplicationSetReport',
  'Namespaced',
);

/** For the push model: open-cluster-management-io/multicloud-integrations. */
export const GITOPS_CLUSTER_V1BETA1 = kind(APPS, 'v1beta1', 'GitOpsCluster', 'Namespaced');
/** For argocd-agent: open-cluster-management-io/argocd-pull-integration. It has the same name and another schema. */
const GITOPS_CLUSTER_V1ALPHA1 = kind(APPS, 'v1alpha1', 'GitOpsCluster', 'Namespaced');

/** A hub serves one of them or both. If both show an object, the first one is read. */
export const GITOPS_CLUSTERS: readonly KindInfo[] = [GITOPS_CLUSTER_V1BETA1, GITOPS_CLUSTER_V1ALPHA1];

export const MANAGED_SERVICE_ACCOUNT = kind(
  'authentication.open-cluster-management.io',
  'v1beta1',
  'ManagedServiceAccount',
  'Namespaced',
);

/** argoproj.io/v1alpha1 Application, as far as Berth reads or writes it. It has no status subresource. */
export interface Application {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec?: ApplicationSpec | undefined;
  readonly operation?: Readonly<Record<string, unknown>> | undefined;
  readonly status?: ApplicationStatus | undefined;
}

export type ApplicationSpec = Readonly<Record<string, unknown>> & {
  readonly destination?: Readonly<Record<string, unknown>> | undefined;
};

export interface ApplicationStatus {
  readonly health?:
    | {
        readonly status?: string | undefined;
        /** RFC 3339 */
        readonly lastTransitionTime?: string | undefined;
      }
    | undefined;
  readonly sync?:
    | {
        readonly status?: string | undefined;
        readonly revision?: string | undefined;
        /** `source` or `sources`, and `destination`, that the status is of. */
        readonly comparedTo?: Readonly<Record<string, unknown>> | undefined;
      }
    | undefined;
  readonly operationState?: ApplicationOperationState | undefined;
  /** When Argo CD compared it with the newest version of its source, RFC 3339. */
  readonly reconciledAt?: string | undefined;
  readonly conditions?: readonly ApplicationCondition[] | undefined;
}

export interface ApplicationOperationState {
  readonly operation?: object | undefined;
  /** Running, Terminating, Succeeded, Failed or Error. */
  readonly phase?: string | undefined;
  /** RFC 3339 */
  readonly startedAt?: string | undefined;
  /** RFC 3339 */
  readonly finishedAt?: string | undefined;
  readonly message?: string | undefined;
}

export interface ApplicationCondition {
  readonly type: string;
  readonly message: string;
  /** RFC 3339 */
  readonly lastTransitionTime?: string | undefined;
}

export function asApplication(object: KubeObject): Application {
  return object;
}
