/**
 * The labels and annotations of the basic pull model, as in OCM's controller for Argo CD
 * (open-cluster-management-io/argocd-pull-integration, mode basic).
 */
const PREFIX = 'apps.open-cluster-management.io';

/** On an Application: a managed cluster pulls it. On a ManifestWork: it contains such an Application. */
export const PULL_LABEL = `${PREFIX}/pull-to-ocm-managed-cluster`;
/** On an Application: the managed cluster that pulls it. */
export const PULL_CLUSTER_ANNOTATION = `${PREFIX}/ocm-managed-cluster`;
/** On an Application: its namespace on the managed cluster. */
export const PULL_NAMESPACE_ANNOTATION = `${PREFIX}/ocm-managed-cluster-app-namespace`;
/** On an Application: `spec.destination.name` on the managed cluster. */
export const DESTINATION_NAME_ANNOTATION = `${PREFIX}/destination-name`;
/** On an Application: `spec.destination.server` on the managed cluster. */
export const DESTINATION_SERVER_ANNOTATION = `${PREFIX}/destination-server`;
/** On an Application: Argo CD on the hub ignores it. */
export const SKIP_RECONCILE_ANNOTATION = 'argocd.argoproj.io/skip-reconcile';

/** On an Application: its Argo CD compares it with Git now, and removes the annotation afterwards. */
export const REFRESH_ANNOTATION = 'argocd.argoproj.io/refresh';
/** On an Application: when the refresh was requested, RFC 3339. Argo CD writes it since 3.6. */
export const REFRESH_TIME_ANNOTATION = 'argocd.argoproj.io/refresh-timestamp';

/** On a ManifestWork: namespace and name of the hub's Application. */
export const HUB_NAMESPACE_ANNOTATION = `${PREFIX}/hub-application-namespace`;
export const HUB_NAME_ANNOTATION = `${PREFIX}/hub-application-name`;
/**
 * On a ManifestWork and its Application: `namespace/name` of the ApplicationSet. On a report it is a label, with a dot.
 */
export const HOSTING_SET_KEY = `${PREFIX}/hosting-applicationset`;
/** On a ManifestWork and its Application: an ApplicationSet created it. */
export const FROM_SET_LABEL = `${PREFIX}/application-set`;

/** On an Application, value `full`: more of its status is reported than OCM's controller requests. */
export const FEEDBACK_ANNOTATION = 'berth.dev/pull-feedback';
/** On an Application: how many managed clusters may hold Applications of its ApplicationSet at the same time. */
export const MAX_COPIES_ANNOTATION = 'berth.dev/max-copies';
