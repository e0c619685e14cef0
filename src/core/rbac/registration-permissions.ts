import {
  CERTIFICATE_REQUEST,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  EVENT,
  LEASE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  NAMESPACE,
  ROLE_BINDING,
  SUBJECT_ACCESS_REVIEW,
} from '@berth/kube/model/kinds';
import { acceptedRules, REGISTRATION_RULES, WORK_RULES } from '../registration/acceptance/agent-rules.ts';
import type { RegistrationDuty } from '../registration/duties.ts';
import { CLIENT_SIGNER } from '@berth/ocm/registration/names';
import { grant, type Permission } from './permission.ts';

const PATCH_CLUSTERS = grant(
  [MANAGED_CLUSTER],
  ['get', 'patch'],
  'get, patch: Berth writes finalizers, taints, the default set and automatic acceptance of ManagedClusters.',
);
const PATCH_STATUS = grant(
  [MANAGED_CLUSTER],
  ['patch'],
  'patch: Berth writes conditions of ManagedClusters.',
  'status',
);
const EVENTS = grant([EVENT], ['create'], 'create: Berth reports on clusters in their namespaces.');
const REQUESTS = grant(
  [CERTIFICATE_REQUEST],
  ['list', 'watch'],
  'list, watch: Berth reads who asks for the certificate of a cluster.',
);

/**
 * RBAC does not allow granting rights that the controller does not have, so it needs the rights of
 * agents in every cluster namespace.
 */
const GRANTED: readonly Permission[] = [...acceptedRules(''), ...REGISTRATION_RULES, ...WORK_RULES].map(
  ({ apiGroups, resources, verbs }) => ({
    groups: apiGroups,
    resources,
    verbs,
    why: 'Berth grants this to the agents of accepted clusters, each in its own namespace, and must hold it for that.',
  }),
);

const ACCEPT_RIGHT: Permission = {
  groups: ['register.open-cluster-management.io'],
  resources: ['managedclusters/accept'],
  verbs: ['update'],
  why: 'update: Berth sets hubAcceptsClient of ManagedClusters that a rule accepts.',
};

/** Permissions of each registration controller. */
const NEEDED: Readonly<Record<RegistrationDuty, readonly Permission[]>> = {
  acceptance: [
    ...PATCH_CLUSTERS,
    ...PATCH_STATUS,
    ACCEPT_RIGHT,
    ...grant(
      [NAMESPACE],
      ['list', 'watch', 'create', 'patch'],
      'list, watch, create, patch: Berth makes the namespace of each accepted cluster.',
    ),
    ...grant(
      [CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE_BINDING],
      ['get', 'list', 'watch', 'create', 'patch', 'delete'],
      'get, list, watch, create, patch, delete: Berth gives agents their rights, and takes them away.',
    ),
    ...grant(
      [MANIFEST_WORK],
      ['list'],
      'list: Berth keeps the rights of a work agent while ManifestWorks are left.',
    ),
    ...REQUESTS,
    ...EVENTS,
    ...GRANTED,
  ],
  approval: [
    ...REQUESTS,
    ...grant(
      [CERTIFICATE_REQUEST],
      ['update'],
      'update: Berth approves the certificates of agents.',
      'approval',
    ),
    {
      groups: [CERTIFICATE_REQUEST.group],
      resources: ['signers'],
      verbs: ['approve'],
      names: [CLIENT_SIGNER],
      why: 'approve: the same, for client certificates only.',
    },
    ...grant(
      [SUBJECT_ACCESS_REVIEW],
      ['create'],
      'create: Berth asks the hub whether an agent may renew its certificate.',
    ),
  ],
  health: [
    ...PATCH_STATUS,
    ...grant(
      [LEASE],
      ['get', 'list', 'watch', 'create', 'patch'],
      'get, list, watch: Berth sees which agents are alive; create, patch: it makes the lease of each cluster.',
    ),
    ...EVENTS,
  ],
  taints: PATCH_CLUSTERS,
  sets: [
    ...grant(
      [MANAGED_CLUSTER_SET],
      ['create', 'patch'],
      'create, patch: Berth keeps the sets default and global.',
    ),
    ...PATCH_CLUSTERS,
    ...grant(
      [MANAGED_CLUSTER_SET],
      ['create'],
      'create: Berth puts clusters without a set into the default set.',
      'join',
    ),
    ...grant(
      [MANAGED_CLUSTER_SET, MANAGED_CLUSTER_SET_BINDING],
      ['patch'],
      'patch: Berth writes how many clusters a set selects, and whether the set of a binding exists.',
      'status',
    ),
    ...PATCH_STATUS,
  ],
  cleanup: [
    ...PATCH_CLUSTERS,
    ...PATCH_STATUS,
    ...grant(
      [MANAGED_CLUSTER_ADDON, MANIFEST_WORK],
      ['list', 'delete'],
      'list, delete: Berth deletes the add-ons and works of a cluster that is deleted.',
    ),
    ...EVENTS,
  ],
};

/** Needed with `--registration`. */
export function registrationPermissions(duties: readonly RegistrationDuty[]): readonly Permission[] {
  return [...new Set(duties.flatMap((duty) => NEEDED[duty]))];
}
