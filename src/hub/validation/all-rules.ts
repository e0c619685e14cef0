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
