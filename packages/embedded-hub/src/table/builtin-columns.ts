import { groupResource } from '@berth/kube/model/kinds';
import type { Column } from './columns/column.ts';
import { AGE_COLUMN, NAME_COLUMN } from './columns/column.ts';
import * as admission from './columns/admission-columns.ts';
import * as core from './columns/core-columns.ts';
import * as other from './columns/other-columns.ts';
import * as workload from './columns/workload-columns.ts';

/** The printer columns of built-in kinds, by `plural.group`. */
const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  pods: core.POD_COLUMNS,
  services: core.SERVICE_COLUMNS,
  nodes: core.NODE_COLUMNS,
  events: core.EVENT_COLUMNS,
  'events.events.k8s.io': core.NEW_EVENT_COLUMNS,
  namespaces: core.NAMESPACE_COLUMNS,
  configmaps: core.CONFIG_MAP_COLUMNS,
  secrets: core.SECRET_COLUMNS,
  serviceaccounts: core.SERVICE_ACCOUNT_COLUMNS,
  persistentvolumeclaims: core.CLAIM_COLUMNS,
  persistentvolumes: core.VOLUME_COLUMNS,
  endpoints: core.ENDPOINTS_COLUMNS,
  replicationcontrollers: core.REPLICATION_CONTROLLER_COLUMNS,
  'deployments.apps': workload.DEPLOYMENT_COLUMNS,
  'replicasets.apps': workload.REPLICA_SET_COLUMNS,
  'statefulsets.apps': workload.STATEFUL_SET_COLUMNS,
  'daemonsets.apps': workload.DAEMON_SET_COLUMNS,
  'jobs.batch': workload.JOB_COLUMNS,
  'cronjobs.batch': workload.CRON_JOB_COLUMNS,
  'horizontalpodautoscalers.autoscaling': workload.AUTOSCALER_COLUMNS,
  'poddisruptionbudgets.policy': workload.DISRUPTION_BUDGET_COLUMNS,
  'roles.rbac.authorization.k8s.io': other.CREATED_COLUMNS,
  'clusterroles.rbac.authorization.k8s.io': other.CREATED_COLUMNS,
  'rolebindings.rbac.authorization.k8s.io': other.BINDING_COLUMNS,
  'clusterrolebindings.rbac.authorization.k8s.io': other.BINDING_COLUMNS,
  'certificatesigningrequests.certificates.k8s.io': other.CERTIFICATE_REQUEST_COLUMNS,
  'leases.coordination.k8s.io': other.LEASE_COLUMNS,
  'customresourcedefinitions.apiextensions.k8s.io': other.CREATED_COLUMNS,
  'apiservices.apiregistration.k8s.io': other.API_SERVICE_COLUMNS,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': admission.WEBHOOK_COLUMNS,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': admission.WEBHOOK_COLUMNS,
  'validatingadmissionpolicies.admissionregistration.k8s.io': admission.POLICY_COLUMNS,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': admission.POLICY_BINDING_COLUMNS,
  'ingresses.networking.k8s.io': other.INGRESS_COLUMNS,
  'networkpolicies.networking.k8s.io': other.NETWORK_POLICY_COLUMNS,
  'storageclasses.storage.k8s.io': other.STORAGE_CLASS_COLUMNS,
  'priorityclasses.scheduling.k8s.io': other.PRIORITY_CLASS_COLUMNS,
};

const DEFAULT: readonly Column[] = [NAME_COLUMN, AGE_COLUMN];

/** The columns of a kind without its own columns are name and age. */
export function builtinColumns(group: string, plural: string): readonly Column[] {
  const key = groupResource({ group, plural });
  return Object.hasOwn(COLUMNS, key) ? (COLUMNS[key] as readonly Column[]) : DEFAULT;
}
