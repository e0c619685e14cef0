import { findCondition } from '@berth/kube/model/condition-list';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { ADDON_CONVERSIONS } from '@berth/ocm/definition/addon-conversions';
import {
  ADDON_GROUP,
  type AddOnConfigReference,
  type ClusterManagementAddOn,
  type ConfigKind,
  type ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';
import type { JsonObject } from '@berth/runtime/json/json-value';

/*
 * The hub is read and written in v1alpha1, which every version of OCM serves and stores. The rules use v1beta1, as OCM's controllers
 * do since 1.3. Objects change their version here, and nowhere else.
 */

export const TEMPLATES: ConfigKind = { group: ADDON_GROUP, resource: 'addontemplates' };
export const DEPLOYMENT_CONFIGS: ConfigKind = { group: ADDON_GROUP, resource: 'addondeploymentconfigs' };

/** By the object in v1alpha1, which never changes: a new version is another object. */
const converted = new WeakMap<KubeObject, unknown>();

/** In any version. */
export function isClusterManagementAddOn({ apiVersion, kind }: KubeObject): boolean {
  return kind === 'ClusterManagementAddOn' && apiVersion.startsWith(`${ADDON_GROUP}/`);
}

/** A ClusterManagementAddOn of the cache, which is in v1alpha1. */
export function readAddOn(object: KubeObject): ClusterManagementAddOn {
  return toBeta<ClusterManagementAddOn>(object, `clustermanagementaddons.${ADDON_GROUP}`);
}

/** A ManagedClusterAddOn of the cache, which is in v1alpha1. */
export function readClusterAddOn(object: KubeObject): ManagedClusterAddOn {
  return toBeta<ManagedClusterAddOn>(object, `managedclusteraddons.${ADDON_GROUP}`);
}

function toBeta<Shape>(object: KubeObject, resource: string): Shape {
  const known = converted.get(object);
  if (known !== undefined) return known as Shape;
  const beta = ADDON_CONVERSIONS[resource]?.(object as unknown as JsonObject, `${ADDON_GROUP}/v1beta1`);
  converted.set(object, beta);
  return beta as unknown as Shape;
}

/** References of a ManagedClusterAddOn as v1alpha1 has them: each also names its object at the top. */
export function storedReferences(references: readonly AddOnConfigReference[]): readonly unknown[] {
  return references.map((reference) => {
    const { namespace, name } = reference.desiredConfig ?? {};
    const filled = Object.entries(reference).filter(([, value]) => value !== null && value !== undefined);
    return {
      ...Object.fromEntries(filled),
      ...(name !== undefined && { name }),
      ...(namespace && { namespace }),
    };
  });
}

/** Whether the add-on is made of an AddOnTemplate, so that the manager of add-ons deploys and registers it. */
export function isOfTemplate({ spec }: ClusterManagementAddOn): boolean {
  return (spec.defaultConfigs ?? []).some(
    ({ group, resource }) => group === TEMPLATES.group && resource === TEMPLATES.resource,
  );
}

export const LIFECYCLE_ANNOTATION = 'addon.open-cluster-management.io/lifecycle';

/** Whether the manager of add-ons installs and configures it. Otherwise its own manager does. */
export function isManagedHere({ metadata }: Pick<ClusterManagementAddOn, 'metadata'>): boolean {
  const lifecycle = metadata.annotations?.[LIFECYCLE_ANNOTATION] ?? '';
  return lifecycle === '' || lifecycle === 'addon-manager';
}

/** Whether the rollout of its configurations has reached the add-on of a cluster. */
export function isConfigured({ status }: ManagedClusterAddOn): boolean {
  return findCondition(status?.conditions, 'Configured')?.status === 'True';
}
