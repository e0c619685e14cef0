import {
  CONTROLLER_REVISION_RULES,
  DAEMON_SET_RULES,
  DEPLOYMENT_RULES,
  REPLICATION_CONTROLLER_RULES,
  REPLICA_SET_RULES,
  STATEFUL_SET_RULES,
} from './workloads/apps-rules.ts';
import { ADMISSION_POLICY_RULES, POLICY_BINDING_RULES } from './admission-policy-rules.ts';
import { AUTOSCALER_RULES } from './workloads/autoscaler-rules.ts';
import { CONFIG_MAP_RULES, SECRET_RULES } from './config-rules.ts';
import { NAMESPACE_RULES, SERVICE_ACCOUNT_RULES } from './core-rules.ts';
import { EVENTS_V1_RULES, EVENT_RULES } from './event-rules.ts';
import { NODE_RULES } from './node-rules.ts';
import { ENDPOINTS_RULES, ENDPOINT_SLICE_RULES } from './network/endpoint-rules.ts';
import { INGRESS_CLASS_RULES, INGRESS_RULES } from './network/ingress-rules.ts';
import { CRON_JOB_RULES, JOB_RULES } from './workloads/job-rules.ts';
import { LIMIT_RANGE_RULES } from './limit-range-rules.ts';
import { NETWORK_POLICY_RULES } from './network/network-policy-rules.ts';
import { POD_RULES, POD_TEMPLATE_RULES } from './pod/pod-rules.ts';
import { DISRUPTION_BUDGET_RULES } from './workloads/disruption-budget-rules.ts';
import { LEASE_RULES } from './lease-rules.ts';
import { QUOTA_RULES } from './quota-rules.ts';
import {
  CLUSTER_ROLE_BINDING_RULES,
  CLUSTER_ROLE_RULES,
  ROLE_BINDING_RULES,
  ROLE_RULES,
} from './rbac-rules.ts';
import { API_SERVICE_RULES } from './api-service-rules.ts';
import { CERTIFICATE_REQUEST_RULES } from './certificate-request-rules.ts';
import { DEFINITION_RULES } from './definition-rules.ts';
import { SERVICE_RULES } from './network/service-rules.ts';
import { ATTACHMENT_RULES } from './storage/attachment-rules.ts';
import { CLAIM_RULES } from './storage/claim-rules.ts';
import { STORAGE_CLASS_RULES } from './storage/storage-class-rules.ts';
import { VOLUME_RULES } from './storage/volume-rules.ts';
import { PRIORITY_CLASS_RULES } from './workloads/priority-class-rules.ts';
import { WEBHOOK_CONFIGURATION_RULES } from './webhook-configuration-rules.ts';
import { groupResource } from '@berth/kube/model/kinds';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { KindRules } from './values/kind-rules.ts';

/** The rules of each kind, by `plural.group`. */
const RULES: Readonly<Record<string, KindRules>> = {
  'customresourcedefinitions.apiextensions.k8s.io': DEFINITION_RULES,
  'certificatesigningrequests.certificates.k8s.io': CERTIFICATE_REQUEST_RULES,
  'apiservices.apiregistration.k8s.io': API_SERVICE_RULES,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': WEBHOOK_CONFIGURATION_RULES,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': WEBHOOK_CONFIGURATION_RULES,
  'validatingadmissionpolicies.admissionregistration.k8s.io': ADMISSION_POLICY_RULES,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': POLICY_BINDING_RULES,
  'priorityclasses.scheduling.k8s.io': PRIORITY_CLASS_RULES,
  'volumeattachments.storage.k8s.io': ATTACHMENT_RULES,
  'storageclasses.storage.k8s.io': STORAGE_CLASS_RULES,
  persistentvolumes: VOLUME_RULES,
  persistentvolumeclaims: CLAIM_RULES,
  'events.events.k8s.io': EVENTS_V1_RULES,
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

/** The rules of a built-in kind; undefined if it has none beyond its schema and metadata. */
export function rulesOf(ref: ResourceRef): KindRules | undefined {
  const key = groupResource(ref.definition);
  return Object.hasOwn(RULES, key) ? RULES[key] : undefined;
}
