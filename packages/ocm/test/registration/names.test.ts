import { expect, it } from 'vitest';
import {
  ADDON_NAME_LABEL,
  AGENT_ANNOTATION_PREFIX,
  AGENT_NAMESPACE,
  API_RESOURCE_FINALIZER,
  AUTO_ACCEPTED_ANNOTATION,
  BOOTSTRAP_SECRET,
  CLEANUP_PRIORITY_ANNOTATION,
  CLIENT_SIGNER,
  CLUSTER_LEASE,
  CLUSTER_NAME_LABEL,
  HUB_KUBECONFIG_SECRET,
  leaseSeconds,
  OPERATOR_NAMESPACE,
  REGISTER_GROUP,
  RESOURCE_FINALIZER,
  SKIP_CLOCK_CHECK_ANNOTATION,
  UNAVAILABLE_TAINT,
  UNREACHABLE_TAINT,
  WORK_FINALIZER,
} from '../../src/registration/names.ts';

it.each([
  [CLUSTER_NAME_LABEL, 'open-cluster-management.io/cluster-name'],
  [ADDON_NAME_LABEL, 'open-cluster-management.io/addon-name'],
  [CLUSTER_LEASE, 'managed-cluster-lease'],
  [API_RESOURCE_FINALIZER, 'cluster.open-cluster-management.io/api-resource-cleanup'],
  [RESOURCE_FINALIZER, 'cluster.open-cluster-management.io/resource-cleanup'],
  [WORK_FINALIZER, 'cluster.open-cluster-management.io/manifest-work-cleanup'],
  [AUTO_ACCEPTED_ANNOTATION, 'open-cluster-management.io/automatically-accepted-on'],
  [CLEANUP_PRIORITY_ANNOTATION, 'open-cluster-management.io/cleanup-priority'],
  [AGENT_ANNOTATION_PREFIX, 'agent.open-cluster-management.io/'],
  [SKIP_CLOCK_CHECK_ANNOTATION, 'registration.open-cluster-management.io/skip-clock-sync-check'],
  [UNREACHABLE_TAINT, 'cluster.open-cluster-management.io/unreachable'],
  [UNAVAILABLE_TAINT, 'cluster.open-cluster-management.io/unavailable'],
  [REGISTER_GROUP, 'register.open-cluster-management.io'],
  [CLIENT_SIGNER, 'kubernetes.io/kube-apiserver-client'],
  [BOOTSTRAP_SECRET, 'bootstrap-hub-kubeconfig'],
  [HUB_KUBECONFIG_SECRET, 'hub-kubeconfig-secret'],
  [AGENT_NAMESPACE, 'open-cluster-management-agent'],
  [OPERATOR_NAMESPACE, 'open-cluster-management'],
])('spells %s as OCM does', (name, literal) => {
  expect(name).toBe(literal);
});

it.each([
  [undefined, 60],
  [0, 60],
  [-1, 60],
  [5, 5],
])('takes a lease duration of %s for %i s', (given, want) => {
  expect(leaseSeconds(given)).toBe(want);
});
