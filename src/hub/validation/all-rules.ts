import { DEFINITION_RULES } from './registration-rules.ts';
import { CERTIFICATE_RULES } from './registration-rules.ts';
import { API_SERVICE_RULES } from './registration-rules.ts';
import { PRIORITY_CLASS_RULES } from './storage-rules.ts';
import { ATTACHMENT_RULES } from './storage-rules.ts';
import { STORAGE_CLASS_RULES } from './storage-rules.ts';
import { VOLUME_RULES } from './storage-rules.ts';
import { CLAIM_RULES } from './storage-rules.ts';
import { EVENT_RULES, NEW_EVENT_RULES } from './core-rules.ts';
import { NODE_RULES } from './core-rules.ts';
import { SERVICE_ACCOUNT_RULES } from './core-rules.ts';
import { NAMESPACE_RULES } from './core-rules.ts';
import { AUTOSCALER_RULES } from './autoscaler-rules.ts';
import { CRON_JOB_RULES } from './job-rules.ts';
import { JOB_RULES } from './job-rules.ts';
import { REPLICATION_CONTROLLER_RULES } from './apps-rules.ts';
import { CONTROLLER_REVISION_RULES } from './apps-rules.ts';
import { DAEMON_SET_RULES } from './apps-rules.ts';
import { STATEFUL_SET_RULES } from './apps-rules.ts';
import { REPLICA_SET_RULES } from './apps-rules.ts';
import { DEPLOYMENT_RULES } from './apps-rules.ts';
import { POD_TEMPLATE_RULES } from './pod/pod-rules.ts';
import { POD_RULES } from './pod/pod-rules.ts';
import { ENDPOINT_SLICE_RULES } from './endpoint-rules.ts';
import { ENDPOINTS_RULES } from './endpoint-rules.ts';
import { NETWORK_POLICY_RULES } from './network-policy-rules.ts';
import { INGRESS_CLASS_RULES } from './ingress-rules.ts';
import { INGRESS_RULES } from './ingress-rules.ts';
import { LEASE_RULES } from './policy-rules.ts';
import { DISRUPTION_BUDGET_RULES } from './policy-rules.ts';
import { CLUSTER_ROLE_BINDING_RULES } from './rbac-rules.ts';
import { ROLE_BINDING_RULES } from './rbac-rules.ts';
import { CLUSTER_ROLE_RULES } from './rbac-rules.ts';
import { ROLE_RULES } from './rbac-rules.ts';
import { LIMIT_RANGE_RULES } from './limit-range-rules.ts';
import { QUOTA_RULES } from './quota-rules.ts';
import { SECRET_RULES } from './config-rules.ts';
import { CONFIG_MAP_RULES } from './config-rules.ts';
import { SERVICE_RULES } from './service-rules.ts';
import type { ResourceRef } from '../scheme/resource-definition.ts';
import type { KindRules } from './kind-rules.ts';

/** By `plural.group`. */
const RULES: Readonly<Record<string, KindRules>> = {
  'customresourcedefinitions.apiextensions.k8s.io': DEFINITION_RULES,
  'certificatesigningrequests.certificates.k8s.io': CERTIFICATE_RULES,
  'apiservices.apiregistration.k8s.io': API_SERVICE_RULES,
  'priorityclasses.scheduling.k8s.io': PRIORITY_CLASS_RULES,
  'volumeattachments.storage.k8s.io': ATTACHMENT_RULES,
  'storageclasses.storage.k8s.io': STORAGE_CLASS_RULES,
  persistentvolumes: VOLUME_RULES,
  persistentvolumeclaims: CLAIM_RULES,
  'events.events.k8s.io': NEW_EVENT_RULES,
  events: EVENT_RULES,
  nodes: NODE_RULES,
  serviceaccounts: SERVICE_ACCOUNT_RULES,
  namespaces: NAMESPACE_RULES,
  'horizontalpodautoscalers.autoscaling': AUTOSCALER_RULES,
  'cronjobs.batch': CRON_JOB_RULES,
  'jobs.batch': JOB_RULES,
  replicationcontrollers: REPLICATION_CONTROLLER_RULES,
  'controllerrevisions.apps': CONTROLLER_REVISION_RULES,
  'daemonsets.apps': DAEMON_SET_RULES,
  'statefulsets.apps': STATEFUL_SET_RULES,
  'replicasets.apps': REPLICA_SET_RULES,
  'deployments.apps': DEPLOYMENT_RULES,
  podtemplates: POD_TEMPLATE_RULES,
  pods: POD_RULES,
  'endpointslices.discovery.k8s.io': ENDPOINT_SLICE_RULES,
  endpoints: ENDPOINTS_RULES,
  'networkpolicies.networking.k8s.io': NETWORK_POLICY_RULES,
  'ingressclasses.networking.k8s.io': INGRESS_CLASS_RULES,
  'ingresses.networking.k8s.io': INGRESS_RULES,
  'leases.coordination.k8s.io': LEASE_RULES,
  'poddisruptionbudgets.policy': DISRUPTION_BUDGET_RULES,
  'clusterrolebindings.rbac.authorization.k8s.io': CLUSTER_ROLE_BINDING_RULES,
  'rolebindings.rbac.authorization.k8s.io': ROLE_BINDING_RULES,
  'clusterroles.rbac.authorization.k8s.io': CLUSTER_ROLE_RULES,
  'roles.rbac.authorization.k8s.io': ROLE_RULES,
  limitranges: LIMIT_RANGE_RULES,
  resourcequotas: QUOTA_RULES,
  secrets: SECRET_RULES,
  configmaps: CONFIG_MAP_RULES,
  services: SERVICE_RULES,
};

export function rulesOf(ref: ResourceRef): KindRules | undefined {
  const { group, plural } = ref.definition;
  const key = group === '' ? plural : `${plural}.${group}`;
  return Object.hasOwn(RULES, key) ? RULES[key] : undefined;
}
