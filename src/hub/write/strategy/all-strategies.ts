import type { ResourceRef } from '../../schema/resource-definition.ts';
import { CERTIFICATE_STRATEGY } from './certificate-strategy.ts';
import { PRIORITY_CLASS_STRATEGY, STORAGE_CLASS_STRATEGY } from './class-strategies.ts';
import { SECRET_STRATEGY } from './secret-strategy.ts';
import { CRD_STRATEGY } from './crd-strategy.ts';
import { JOB_STRATEGY } from './job-strategy.ts';
import { NAMESPACE_STRATEGY } from './namespace-strategy.ts';
import { BINDING_STRATEGY } from './rbac-strategy.ts';
import { SERVICE_STRATEGY } from './service-strategy.ts';
import type { Strategy } from './strategy.ts';
import {
  CRON_JOB_STRATEGY,
  DAEMON_SET_STRATEGY,
  DEPLOYMENT_STRATEGY,
  POD_STRATEGY,
  REPLICA_SET_STRATEGY,
  REPLICATION_CONTROLLER_STRATEGY,
  STATEFUL_SET_STRATEGY,
} from './workload-strategies.ts';

/** Custom resources have no code of their own, but all of them have a generation. */
const CUSTOM: Strategy = { generation: true };
const PLAIN: Strategy = {};
const COUNTED: Strategy = { generation: true };
const WITH_STATUS: Strategy = { keepsStatus: true };

/** By `plural.group`. */
const STRATEGIES: Readonly<Record<string, Strategy>> = {
  namespaces: NAMESPACE_STRATEGY,
  secrets: SECRET_STRATEGY,
  services: SERVICE_STRATEGY,
  pods: POD_STRATEGY,
  nodes: WITH_STATUS,
  replicationcontrollers: REPLICATION_CONTROLLER_STRATEGY,
  'deployments.apps': DEPLOYMENT_STRATEGY,
  'replicasets.apps': REPLICA_SET_STRATEGY,
  'statefulsets.apps': STATEFUL_SET_STRATEGY,
  'daemonsets.apps': DAEMON_SET_STRATEGY,
  'jobs.batch': JOB_STRATEGY,
  'cronjobs.batch': CRON_JOB_STRATEGY,
  'ingresses.networking.k8s.io': COUNTED,
  'networkpolicies.networking.k8s.io': COUNTED,
  'poddisruptionbudgets.policy': COUNTED,
  'rolebindings.rbac.authorization.k8s.io': BINDING_STRATEGY,
  'clusterrolebindings.rbac.authorization.k8s.io': BINDING_STRATEGY,
  'certificatesigningrequests.certificates.k8s.io': CERTIFICATE_STRATEGY,
  'customresourcedefinitions.apiextensions.k8s.io': CRD_STRATEGY,
  'priorityclasses.scheduling.k8s.io': PRIORITY_CLASS_STRATEGY,
  'storageclasses.storage.k8s.io': STORAGE_CLASS_STRATEGY,
  'endpointslices.discovery.k8s.io': COUNTED,
};

export function strategyOf(ref: ResourceRef): Strategy {
  const { group, plural, builtIn } = ref.definition;
  if (!builtIn) return CUSTOM;
  const key = group === '' ? plural : `${plural}.${group}`;
  return Object.hasOwn(STRATEGIES, key) ? (STRATEGIES[key] as Strategy) : PLAIN;
}
