import type { KubeObject } from '@berth/kube/model/object-meta';
import { gitTaints } from './cluster-taints.ts';
import { type ManagedFieldSet as Fields, managerApplies } from './field-names.ts';

/**
 * The part of a live object that one manager applied: its own labels, annotations and taints, and every other field
 * unchanged. If the hub does not record ownership, the manager owns no labels, annotations and taints.
 */
export function appliedPart(live: KubeObject, manager: string): KubeObject {
  const { managedFields: _managedFields, labels, annotations, ...metadata } = live.metadata;
  const own = managerApplies(live, manager);
  const spec = live['spec'] ?? {};
  const ownsTaints = own?.['f:spec']?.['f:taints'] !== undefined;
  return {
    ...live,
    metadata: {
      ...metadata,
      labels: ownedOf(labels, own?.['f:metadata']?.['f:labels']),
      annotations: ownedOf(annotations, own?.['f:metadata']?.['f:annotations']),
    },
    ...(live['spec'] !== undefined && { spec: { ...spec, taints: gitTaints(live, ownsTaints) } }),
  };
}

function ownedOf(
  texts: Readonly<Record<string, string>> = {},
  fields: Fields = {},
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).filter(([name]) => Object.hasOwn(fields, `f:${name}`)));
}
