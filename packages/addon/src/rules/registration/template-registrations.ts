import { apiVersionOf, MANAGED_CLUSTER_ADDON, ROLE_BINDING } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { DesiredObject } from '@berth/kube/model/object-writes';
import type { AddOnTemplate, HubPermission, StatusRegistration } from '@berth/ocm/kind/addon';
import { ADDON_NAME_LABEL, CLIENT_SIGNER, CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import { desiredConfig } from '../render-template.ts';
import {
  agentSubject,
  agentSubjects,
  registrationApplied,
  registrationFailed,
  registrationPending,
  type RegistrationPlan,
  statusRegistrations,
  type StoredAddOn,
} from './plan-registration.ts';

/** On the bindings of an add-on that a template describes; its value is empty, as upstream. */
export const TEMPLATE_LABEL = 'open-cluster-management.io/addon-template-name';

const RBAC = ROLE_BINDING.group;

/** The name of the template that the add-on of a cluster shall use; undefined: it has none, or it is not decided yet. */
export function desiredTemplate(addon: StoredAddOn): string | undefined {
  const desired = desiredConfig(addon, 'addontemplates');
  return desired?.specHash ? desired.name : undefined;
}

/**
 * What a template declares for an add-on. Of several entries for one signer, the first counts.
 * Source: open-cluster-management.io/ocm `pkg/addon/templateagent/registration.go`, addon-framework
 * `pkg/addonmanager/controllers/registration/controller.go`, since 1.3 without the group of everybody.
 */
export function templateRegistrations(
  addon: StoredAddOn,
  template: AddOnTemplate,
): readonly StatusRegistration[] {
  const bySigner = new Map<string, StatusRegistration>();
  for (const { type, customSigner } of template.spec.registration ?? []) {
    if (type === 'CustomSigner' && customSigner === undefined) continue;
    const signerName = type === 'KubeClient' ? CLIENT_SIGNER : (customSigner?.signerName ?? '');
    if (bySigner.has(signerName)) continue;
    const subject = type === 'KubeClient' ? undefined : customSigner?.subject;
    bySigner.set(signerName, { signerName, subject: subject ?? agentSubject(addon) });
  }
  return [...bySigner.values()];
}

/** The status and the rights of an add-on of a template. @param template undefined: the hub does not have it */
export function planRegistration(
  addon: StoredAddOn,
  name: string,
  template: AddOnTemplate | undefined,
): RegistrationPlan {
  const { namespace: cluster = '', name: addonName } = addon.metadata;
  if (template === undefined)
    return registrationFailed(
      addon.status?.registrations ?? [],
      `PermissionConfig failed to get addon template for addon ${cluster}/${addonName}: addontemplate.addon.open-cluster-management.io "${name}" not found`,
    );
  const registrations = statusRegistrations(addon, templateRegistrations(addon, template));
  const permissions = (template.spec.registration ?? []).flatMap(({ type, kubeClient }) =>
    type === 'KubeClient' ? (kubeClient?.hubPermissions ?? []) : [],
  );
  const why = permissions.map(permissionProblem).find((problem) => problem !== undefined);
  if (why !== undefined) return registrationFailed(registrations, why);
  // Whatever subject a template names, rights are those of the add-on's agent.
  const isToken = addon.status?.kubeClientDriver === 'token';
  const clients = registrations.filter(({ signerName }) => signerName === CLIENT_SIGNER);
  const known = clients.map((one) => (isToken ? one : { ...one, subject: agentSubject(addon) }));
  const subjects = agentSubjects(addon, known);
  if (permissions.length > 0 && subjects.length === 0) return registrationPending(registrations);
  return registrationApplied(registrations, bindingsOf(addon, permissions, subjects));
}

function permissionProblem({ type, currentCluster, singleNamespace }: HubPermission): string | undefined {
  if (type === 'CurrentCluster' && currentCluster === undefined)
    return 'current cluster is required when the HubPermission type is CurrentCluster';
  return type === 'SingleNamespace' && singleNamespace === undefined
    ? 'single namespace is required when the HubPermission type is SingleNamespace'
    : undefined;
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
