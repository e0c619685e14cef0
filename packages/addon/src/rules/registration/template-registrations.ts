import {
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER_ADDON,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import type { Condition, KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import {
  type AddOnTemplate,
  type HubPermission,
  type ManagedClusterAddOnStatus,
  type StatusRegistration,
} from '@berth/ocm/kind/addon';
import { addonNames } from '@berth/ocm/registration/addon-names';
import { ADDON_NAME_LABEL, CLIENT_SIGNER, CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import type { DesiredObject } from '@berth/kube/model/object-writes';
import { desiredConfig } from '../render-template.ts';

/** On the bindings of an add-on that a template describes; its value is empty, as upstream. */
export const TEMPLATE_LABEL = 'open-cluster-management.io/addon-template-name';
export const REGISTRATION_APPLIED = 'RegistrationApplied';
/** Every user who is authenticated has this group. */
export const EVERYBODY = 'system:authenticated';

const RBAC = ROLE_BINDING.group;

/** A ManagedClusterAddOn in v1alpha1, as far as its registration needs it. The cluster's agent reads and writes that version, too. */
export interface StoredAddOn {
  readonly metadata: ObjectMeta;
  readonly status?:
    | (Pick<ManagedClusterAddOnStatus, 'conditions' | 'configReferences'> & {
        readonly registrations?: readonly StatusRegistration[] | undefined;
        /** How the add-on's agent is a client of the hub, `csr` or `token`. The cluster's agent says it. */
        readonly kubeClientDriver?: string | undefined;
      })
    | undefined;
}

export interface RegistrationPlan {
  readonly registrations: readonly StatusRegistration[];
  readonly condition: Condition;
  /** The bindings that the add-on shall have, and no others. Undefined: that is not known, so all stay. */
  readonly bindings: readonly DesiredObject[] | undefined;
}

/** The name of the template that the add-on of a cluster shall use; undefined: it has none, or it is not decided yet. */
export function desiredTemplate(addon: StoredAddOn): string | undefined {
  const desired = desiredConfig(addon, 'addontemplates');
  return desired?.specHash ? desired.name : undefined;
}

/** Whether the add-on belongs to its ClusterManagementAddOn, with which it is deleted. Until then nothing is done. */
export function isOwned({ metadata: { name, ownerReferences = [] } }: StoredAddOn): boolean {
  return ownerReferences.some((owner) => owner.kind === CLUSTER_MANAGEMENT_ADDON.kind && owner.name === name);
}

/**
 * What the cluster's agent shall register for an add-on. Of several entries for one signer, the first counts.
 * Source: open-cluster-management.io/ocm `pkg/addon/templateagent/registration.go`, addon-framework
 * `pkg/addonmanager/controllers/registration/controller.go`, since 1.3 without the group of everybody.
 */
export function wantedRegistrations(
  addon: StoredAddOn,
  template: AddOnTemplate,
): readonly StatusRegistration[] {
  const { user, groups } = addonNames(addon.metadata.name, addon.metadata.namespace ?? '');
  const bySigner = new Map<string, StatusRegistration>();
  for (const { type, customSigner } of template.spec.registration ?? []) {
    if (type === 'CustomSigner' && customSigner === undefined) continue;
    const signerName = type === 'KubeClient' ? CLIENT_SIGNER : (customSigner?.signerName ?? '');
    if (bySigner.has(signerName)) continue;
    const subject = type === 'KubeClient' ? clientSubject(addon) : customSigner?.subject;
    bySigner.set(signerName, { signerName, subject: subject ?? { user, groups } });
  }
  return [...bySigner.values()];
}

/** With the driver `token` the cluster's agent writes the user. */
function clientSubject({ status }: StoredAddOn): StatusRegistration['subject'] {
  if (status?.kubeClientDriver !== 'token') return undefined;
  return status.registrations?.find(({ signerName }) => signerName === CLIENT_SIGNER)?.subject ?? {};
}

/** The status and the rights of an add-on of a template. @param template undefined: the hub does not have it */
export function planRegistration(
  addon: StoredAddOn,
  name: string,
  template: AddOnTemplate | undefined,
): RegistrationPlan {
  const { namespace: cluster = '', name: addonName } = addon.metadata;
  if (template === undefined)
    return failed(
      addon.status?.registrations ?? [],
      `PermissionConfig failed to get addon template for addon ${cluster}/${addonName}: addontemplate.addon.open-cluster-management.io "${name}" not found`,
    );
  const registrations = wantedRegistrations(addon, template);
  const permissions = (template.spec.registration ?? []).flatMap(({ type, kubeClient }) =>
    type === 'KubeClient' ? (kubeClient?.hubPermissions ?? []) : [],
  );
  const why = permissions.map(permissionProblem).find((problem) => problem !== undefined);
  if (why !== undefined) return failed(registrations, why);
  const subjects = subjectsOf(addon, registrations);
  if (permissions.length > 0 && subjects.length === 0)
    return {
      registrations,
      bindings: undefined,
      condition: {
        ...{ type: REGISTRATION_APPLIED, status: 'False' },
        ...{ reason: 'PermissionConfigPending', message: 'registration subject not ready' },
      },
    };
  const condition: Condition = {
    ...{ type: REGISTRATION_APPLIED, status: 'True', reason: 'SetPermissionApplied' },
    message: 'Registration of the addon agent is configured',
  };
  return { registrations, condition, bindings: bindingsOf(addon, permissions, subjects) };
}

export function permissionFailed(why: string): Condition {
  return {
    ...{ type: REGISTRATION_APPLIED, status: 'False', reason: 'SetPermissionFailed' },
    message: `Failed to set permission for hub agent: ${why}`,
  };
}

function failed(registrations: readonly StatusRegistration[], why: string): RegistrationPlan {
  return { registrations, condition: permissionFailed(why), bindings: undefined };
}

function permissionProblem({ type, currentCluster, singleNamespace }: HubPermission): string | undefined {
  if (type === 'CurrentCluster' && currentCluster === undefined)
    return 'current cluster is required when the HubPermission type is CurrentCluster';
  return type === 'SingleNamespace' && singleNamespace === undefined
    ? 'single namespace is required when the HubPermission type is SingleNamespace'
    : undefined;
}

/**
 * Who the add-on's agent on this cluster is, and nobody else. OCM also binds the group that the agents of the add-on have on
 * all clusters, with which each of them could act in the namespaces of the others. And it binds whatever user the
 * cluster's agent names with the driver `token`.
 */
function subjectsOf(
  { metadata, status }: StoredAddOn,
  registrations: readonly StatusRegistration[],
): readonly object[] {
  const names = addonNames(metadata.name, metadata.namespace ?? '');
  const client = registrations.find(({ signerName }) => signerName === CLIENT_SIGNER)?.subject;
  const subject = (kind: 'User' | 'Group', name: string) => ({ kind, apiGroup: RBAC, name });
  if (client === undefined) return [];
  if (status?.kubeClientDriver === 'token')
    return client.user === names.accountUser ? [subject('User', names.accountUser)] : [];
  return [subject('User', names.user), subject('Group', names.groups[0] ?? '')];
}

/** Bindings by name: of two permissions with one role the first counts. */
function bindingsOf(
  addon: StoredAddOn,
  permissions: readonly HubPermission[],
  subjects: readonly object[],
): readonly DesiredObject[] {
  const { namespace: cluster = '', name, uid = '' } = addon.metadata;
  const owner = {
    apiVersion: apiVersionOf(MANAGED_CLUSTER_ADDON),
    kind: MANAGED_CLUSTER_ADDON.kind,
    name,
    uid,
  };
  const byName = new Map<string, DesiredObject>();
  for (const { currentCluster, singleNamespace } of permissions) {
    const roleRef = singleNamespace?.roleRef ?? {
      ...{ apiGroup: RBAC, kind: 'ClusterRole', name: currentCluster?.clusterRoleName ?? '' },
    };
    const namespace = singleNamespace?.namespace ?? cluster;
    const metadata = {
      namespace,
      labels: { [ADDON_NAME_LABEL]: name, [TEMPLATE_LABEL]: '', [CLUSTER_NAME_LABEL]: cluster },
      ...(singleNamespace === undefined && { ownerReferences: [owner] }),
    };
    const base = bindingName(name, roleRef.kind, singleNamespace && cluster);
    const taken = byName.get(`${namespace}/${base}`)?.object['roleRef'] as typeof roleRef | undefined;
    if (taken?.name === roleRef.name) continue;
    const named = taken === undefined ? base : `${base}:${roleRef.name}`;
    const object: KubeObject = {
      ...{ apiVersion: apiVersionOf(ROLE_BINDING), kind: ROLE_BINDING.kind },
      ...{ metadata: { ...metadata, name: named }, roleRef, subjects },
    };
    byName.set(`${namespace}/${named}`, { kind: ROLE_BINDING, object });
  }
  return [...byName.values()];
}

/**
 * As upstream. In a namespace of its own choice OCM gives the bindings of all clusters one name, so that each cluster takes the
 * rights of another; here the cluster is part of the name.
 */
function bindingName(addon: string, roleKind: string, cluster: string | undefined): string {
  const name = `open-cluster-management:${addon}:${roleKind.toLowerCase()}:agent`;
  return cluster === undefined ? name : `${name}:${cluster}`;
}
