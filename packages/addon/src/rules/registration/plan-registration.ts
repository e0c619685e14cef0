import { CLUSTER_MANAGEMENT_ADDON, ROLE_BINDING } from '@berth/kube/model/kinds';
import type { Condition, ObjectMeta } from '@berth/kube/model/object-meta';
import type { DesiredObject } from '@berth/kube/model/object-writes';
import type { ManagedClusterAddOnStatus, StatusRegistration } from '@berth/ocm/kind/addon';
import { addonNames } from '@berth/ocm/registration/addon-names';
import { CLIENT_SIGNER } from '@berth/ocm/registration/names';

export const REGISTRATION_APPLIED = 'RegistrationApplied';
/** Every user who is authenticated has this group. */
export const EVERYBODY = 'system:authenticated';

/** A ManagedClusterAddOn in v1alpha1, as far as its registration needs it. The cluster's agent reads and writes that version, too. */
export interface StoredAddOn {
  readonly metadata: ObjectMeta;
  readonly status?:
    | (Pick<ManagedClusterAddOnStatus, 'conditions' | 'configReferences' | 'namespace' | 'healthCheck'> & {
        readonly registrations?: readonly StatusRegistration[] | undefined;
        /** How the add-on's agent is a client of the hub, `csr` or `token`. The cluster's agent says it. */
        readonly kubeClientDriver?: string | undefined;
      })
    | undefined;
}

/** A subject of a RoleBinding or a ClusterRoleBinding. */
export interface RbacSubject {
  readonly kind: 'User' | 'Group';
  readonly apiGroup: string;
  readonly name: string;
}

export interface RegistrationPlan {
  readonly registrations: readonly StatusRegistration[];
  readonly condition: Condition;
  /** The objects with the rights that the add-on shall have, and no others. Undefined: that is not known, so all stay. */
  readonly permissions: readonly DesiredObject[] | undefined;
}

const MESSAGE = 'Registration of the addon agent is configured';

/** Whether the add-on belongs to its ClusterManagementAddOn, with which it is deleted. Until then nothing is done. */
export function isOwned({ metadata: { name, ownerReferences = [] } }: StoredAddOn): boolean {
  return ownerReferences.some((owner) => owner.kind === CLUSTER_MANAGEMENT_ADDON.kind && owner.name === name);
}

/** The subject of the add-on's agent on one cluster, as its certificate has it. */
export function agentSubject({ metadata }: StoredAddOn): NonNullable<StatusRegistration['subject']> {
  const { user, groups } = addonNames(metadata.name, metadata.namespace ?? '');
  return { user, groups };
}

/**
 * What the status says of the registrations that an add-on declares, one for each signer. With the driver `token` the cluster's agent
 * writes the user of the hub's client.
 */
export function statusRegistrations(
  { status }: StoredAddOn,
  declared: readonly StatusRegistration[],
): readonly StatusRegistration[] {
  if (status?.kubeClientDriver !== 'token') return declared;
  const known = status.registrations?.find(({ signerName }) => signerName === CLIENT_SIGNER)?.subject;
  return declared.map((one) => (one.signerName === CLIENT_SIGNER ? { ...one, subject: known ?? {} } : one));
}

/**
 * Who the add-on's agent on this cluster is, and nobody else. OCM also binds the group that the agents of the add-on have on
 * all clusters, with which each of them could act in the namespaces of the others. And it binds whatever user the
 * cluster's agent names with the driver `token`.
 * @returns none while the agent is not known
 */
export function agentSubjects(
  { metadata, status }: StoredAddOn,
  registrations: readonly StatusRegistration[],
): readonly RbacSubject[] {
  const names = addonNames(metadata.name, metadata.namespace ?? '');
  const client = registrations.find(({ signerName }) => signerName === CLIENT_SIGNER)?.subject;
  const subject = (kind: RbacSubject['kind'], name: string) => ({ kind, apiGroup: ROLE_BINDING.group, name });
  if (client === undefined) return [];
  if (status?.kubeClientDriver === 'token')
    return client.user === names.accountUser ? [subject('User', names.accountUser)] : [];
  const groups = (client.groups ?? []).filter((group) => group === names.groups[0]);
  return [
    ...(client.user ? [subject('User', client.user)] : []),
    ...groups.map((group) => subject('Group', group)),
  ];
}

export function registrationApplied(
  registrations: readonly StatusRegistration[],
  permissions: readonly DesiredObject[],
): RegistrationPlan {
  const reason = 'SetPermissionApplied';
  const condition: Condition = { type: REGISTRATION_APPLIED, status: 'True', reason, message: MESSAGE };
  return { registrations, condition, permissions };
}

/** For an add-on whose agent does not reach the hub. */
export function nothingToRegister(): RegistrationPlan {
  const { condition, ...plan } = registrationApplied([], []);
  return { ...plan, condition: { ...condition, reason: 'NilRegistration' } };
}

/** The rights need the user of the agent, which the cluster's agent has not named yet. */
export function registrationPending(registrations: readonly StatusRegistration[]): RegistrationPlan {
  return {
    registrations,
    permissions: undefined,
    condition: {
      ...{ type: REGISTRATION_APPLIED, status: 'False' },
      ...{ reason: 'PermissionConfigPending', message: 'registration subject not ready' },
    },
  };
}

export function registrationFailed(
  registrations: readonly StatusRegistration[],
  why: string,
): RegistrationPlan {
  return { registrations, condition: permissionFailed(why), permissions: undefined };
}

export function permissionFailed(why: string): Condition {
  return {
    ...{ type: REGISTRATION_APPLIED, status: 'False', reason: 'SetPermissionFailed' },
    message: `Failed to set permission for hub agent: ${why}`,
  };
}
