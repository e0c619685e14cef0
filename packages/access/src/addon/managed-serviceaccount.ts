import { type AddOnDefinition, defineAddOn } from '@berth/addon';
import {
  ADDON_DEPLOYMENT_CONFIG,
  apiVersionOf,
  CLUSTER_ROLE,
  kind,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import { addonNames } from '@berth/ocm/registration/addon-names';
import { CLIENT_SIGNER } from '@berth/ocm/registration/names';
import { clusterManagementAddOn, managerRules } from './manager-rules.ts';
import { LEASE_RULE, podProcess } from './pod-process.ts';

/** The add-on, under OCM's name. */
export const MANAGED_SERVICE_ACCOUNTS = 'managed-serviceaccount';
const GROUP = 'authentication.open-cluster-management.io';
const PROFILES = 'multicluster.x-k8s.io';
export const MANAGED_SERVICE_ACCOUNT = kind(GROUP, 'v1beta1', 'ManagedServiceAccount', 'Namespaced');
/** `true` on the accounts in clusters and the Secrets on the hub that belong to a ManagedServiceAccount. */
export const MANAGED_LABEL = `${GROUP}/is-managed-serviceaccount`;
/** Of the agents, on the hub. The manager binds it, and does not have the rights itself. */
const AGENT_ROLE = `open-cluster-management:${MANAGED_SERVICE_ACCOUNTS}:hub-agent`;
/** Of the agent, in its cluster: another name, because a hub may manage itself. */
const CLUSTER_AGENT_ROLE = `open-cluster-management:${MANAGED_SERVICE_ACCOUNTS}:agent`;
const MANAGER_ROLE = `open-cluster-management:${MANAGED_SERVICE_ACCOUNTS}`;
const ACCOUNT = 'managed-serviceaccount-agent';
const RBAC = CLUSTER_ROLE.group;

/** Source: managed-serviceaccount 0.10.0 `apis/authentication/v1beta1/managedserviceaccount_types.go`. */
export type ManagedServiceAccount = KubeObject & {
  readonly spec?: {
    readonly rotation?: { readonly validity?: string };
    readonly ttlSecondsAfterCreation?: number;
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly expirationTimestamp?: string;
    readonly tokenSecretRef?: { readonly name: string; readonly lastRefreshTimestamp: string };
  };
};

/** The Secret in which the agent has its access to the hub. */
export function accountAgentSecret(): string {
  return addonNames(MANAGED_SERVICE_ACCOUNTS, '').hubKubeconfigSecret;
}

/** The add-on whose agent makes service accounts in its cluster, and brings their tokens to the hub. */
export function managedServiceAccounts({ image }: { readonly image: string }): AddOnDefinition {
  return defineAddOn({
    name: MANAGED_SERVICE_ACCOUNTS,
    health: 'lease',
    supportedConfigs: [ADDON_DEPLOYMENT_CONFIG],
    registration: {
      configurations: [{ type: 'KubeClient' }],
      permissions: async ({ subjects }) => [
        {
          ...{ apiVersion: apiVersionOf(ROLE_BINDING), kind: ROLE_BINDING.kind },
          metadata: { name: AGENT_ROLE },
          roleRef: { apiGroup: RBAC, kind: CLUSTER_ROLE.kind, name: AGENT_ROLE },
          subjects: subjects(),
        },
      ],
    },
    manifests: async ({ installNamespace: namespace, values }) =>
      podProcess({
        ...{ namespace, name: ACCOUNT, roleName: CLUSTER_AGENT_ROLE, container: { name: 'agent' } },
        ...{ image: values['IMAGE'] ?? image, args: ['accounts', 'agent', '--namespace', namespace] },
        clusterRules: [
          { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
        ],
        rules: [
          {
            apiGroups: [''],
            resources: ['serviceaccounts'],
            verbs: ['get', 'list', 'watch', 'create', 'delete'],
          },
          { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
          {
            apiGroups: [''],
            ...{ resources: ['secrets'], resourceNames: [accountAgentSecret()] },
            verbs: ['get', 'list', 'watch'],
          },
          LEASE_RULE,
        ],
      }),
  });
}

export function managedServiceAccountsAddOn(): KubeObject {
  return clusterManagementAddOn(MANAGED_SERVICE_ACCOUNTS, 'brings tokens of accounts in clusters to the hub');
}

/** `berth accounts serve` in a pod of the hub, with its rights; the kind, and what its agents may do on the hub. */
export function accountHubObjects({
  namespace,
  image,
  withProfiles = false,
}: {
  readonly namespace: string;
  readonly image: string;
  /** It writes ClusterProfiles, and copies tokens beside them. */
  readonly withProfiles?: boolean;
}): readonly KubeObject[] {
  return [
    ...(ocmCrds([GROUP, ...(withProfiles ? [PROFILES] : [])]) as unknown as readonly KubeObject[]),
    agentRole(),
    ...podProcess({
      ...{ namespace, name: MANAGED_SERVICE_ACCOUNTS, roleName: MANAGER_ROLE, image },
      args: [
        ...['accounts', 'serve', '--image', image],
        ...(withProfiles ? ['--cluster-profiles', '--namespace', namespace] : []),
      ],
      clusterRules: [
        ...managerRules(CLIENT_SIGNER),
        { apiGroups: [GROUP], resources: ['managedserviceaccounts'], verbs: ['list', 'watch', 'delete'] },
        { apiGroups: [RBAC], resources: ['rolebindings'], verbs: ['create', 'patch'] },
        { apiGroups: [RBAC], resources: ['clusterroles'], resourceNames: [AGENT_ROLE], verbs: ['bind'] },
        ...(withProfiles ? PROFILE_RULES : []),
      ],
      rules: withProfiles ? [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }] : [],
      container: { name: 'manager' },
      spec: { replicas: 1, strategy: { type: 'Recreate' } },
    }),
    managedServiceAccountsAddOn(),
  ];
}

const PROFILE_RULES: readonly object[] = [
  {
    apiGroups: ['cluster.open-cluster-management.io'],
    ...{ resources: ['managedclustersets', 'managedclustersetbindings'], verbs: ['list', 'watch'] },
  },
  {
    apiGroups: [PROFILES],
    resources: ['clusterprofiles'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: [PROFILES], resources: ['clusterprofiles/status'], verbs: ['patch'] },
  // As owners of Secrets that block their deletion, where a hub checks that.
  { apiGroups: [PROFILES], resources: ['clusterprofiles/finalizers'], verbs: ['update'] },
  {
    apiGroups: [''],
    resources: ['secrets'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
  },
];

/** Of an agent, in the namespace of its cluster on the hub. Source: managed-serviceaccount 0.10.0 `pkg/addon/manager/addon.go`. */
export function agentRole(): KubeObject {
  return {
    ...{ apiVersion: apiVersionOf(CLUSTER_ROLE), kind: CLUSTER_ROLE.kind, metadata: { name: AGENT_ROLE } },
    rules: [
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'update'] },
      { apiGroups: [GROUP], resources: ['managedserviceaccounts'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [GROUP], resources: ['managedserviceaccounts/status'], verbs: ['patch'] },
    ],
  };
}
