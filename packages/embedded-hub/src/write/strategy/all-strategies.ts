import { groupResource } from '@berth/kube/model/kinds';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import { ADMISSION_POLICY_STRATEGY, POLICY_BINDING_STRATEGY } from './admission-policy-strategy.ts';
import { AUTOSCALER_STRATEGY } from './autoscaler-strategy.ts';
import { CERTIFICATE_STRATEGY } from './certificate-strategy.ts';
import { PRIORITY_CLASS_STRATEGY, STORAGE_CLASS_STRATEGY } from './class-strategies.ts';
import { SECRET_STRATEGY } from './secret-strategy.ts';
import { CRD_STRATEGY } from './crd-strategy.ts';
import { JOB_STRATEGY } from './job-strategy.ts';
import { NAMESPACE_STRATEGY } from './namespace-strategy.ts';
import {
  API_SERVICE_STRATEGY,
  ENDPOINTS_STRATEGY,
  ENDPOINT_SLICE_STRATEGY,
  INGRESS_CLASS_STRATEGY,
  NETWORK_POLICY_STRATEGY,
  NODE_STRATEGY,
} from './network-strategies.ts';
import { BINDING_STRATEGY } from './rbac-strategy.ts';
import { SERVICE_STRATEGY } from './service-strategy.ts';
import { CLAIM_STRATEGY, LIMIT_RANGE_STRATEGY, VOLUME_STRATEGY } from './storage-strategies.ts';
import type { Strategy } from './strategy.ts';
import {
  CRON_JOB_STRATEGY,
  DAEMON_SET_STRATEGY,
  DEPLOYMENT_STRATEGY,
  POD_STRATEGY,
  POD_TEMPLATE_STRATEGY,
  REPLICA_SET_STRATEGY,
  REPLICATION_CONTROLLER_STRATEGY,
  STATEFUL_SET_STRATEGY,
} from './workload-strategies.ts';
import { MUTATING_WEBHOOK_STRATEGY, VALIDATING_WEBHOOK_STRATEGY } from './webhook-configuration-strategy.ts';

/** Custom resources have no code of their own, but all of them have a generation. */
const CUSTOM: Strategy = { generation: true };
const PLAIN: Strategy = {};
const WITH_GENERATION: Strategy = { generation: true };

/** By `plural.group`. */
const STRATEGIES: Readonly<Record<string, Strategy>> = {
  namespaces: NAMESPACE_STRATEGY,
  secrets: SECRET_STRATEGY,
  services: SERVICE_STRATEGY,
  pods: POD_STRATEGY,
  nodes: NODE_STRATEGY,
  endpoints: ENDPOINTS_STRATEGY,
  limitranges: LIMIT_RANGE_STRATEGY,
  persistentvolumeclaims: CLAIM_STRATEGY,
  persistentvolumes: VOLUME_STRATEGY,
  podtemplates: POD_TEMPLATE_STRATEGY,
  replicationcontrollers: REPLICATION_CONTROLLER_STRATEGY,
  'deployments.apps': DEPLOYMENT_STRATEGY,
  'replicasets.apps': REPLICA_SET_STRATEGY,
  'statefulsets.apps': STATEFUL_SET_STRATEGY,
  'daemonsets.apps': DAEMON_SET_STRATEGY,
  'jobs.batch': JOB_STRATEGY,
  'cronjobs.batch': CRON_JOB_STRATEGY,
  'ingresses.networking.k8s.io': WITH_GENERATION,
  'ingressclasses.networking.k8s.io': INGRESS_CLASS_STRATEGY,
  'networkpolicies.networking.k8s.io': NETWORK_POLICY_STRATEGY,
  'horizontalpodautoscalers.autoscaling': AUTOSCALER_STRATEGY,
  'poddisruptionbudgets.policy': WITH_GENERATION,
  'rolebindings.rbac.authorization.k8s.io': BINDING_STRATEGY,
  'clusterrolebindings.rbac.authorization.k8s.io': BINDING_STRATEGY,
  'certificatesigningrequests.certificates.k8s.io': CERTIFICATE_STRATEGY,
  'customresourcedefinitions.apiextensions.k8s.io': CRD_STRATEGY,
  'priorityclasses.scheduling.k8s.io': PRIORITY_CLASS_STRATEGY,
  'storageclasses.storage.k8s.io': STORAGE_CLASS_STRATEGY,
  'endpointslices.discovery.k8s.io': ENDPOINT_SLICE_STRATEGY,
  'apiservices.apiregistration.k8s.io': API_SERVICE_STRATEGY,
  'validatingadmissionpolicies.admissionregistration.k8s.io': ADMISSION_POLICY_STRATEGY,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': POLICY_BINDING_STRATEGY,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': MUTATING_WEBHOOK_STRATEGY,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': VALIDATING_WEBHOOK_STRATEGY,
};

export function strategyOf(ref: ResourceRef): Strategy {
  if (!ref.definition.builtIn) return CUSTOM;
  const key = groupResource(ref.definition);
  return Object.hasOwn(STRATEGIES, key) ? (STRATEGIES[key] as Strategy) : PLAIN;
}
