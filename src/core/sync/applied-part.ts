import type { KubeObject } from '../model/object-meta.ts';

/** `metadata.managedFields`, as far as it is read here. Source of the format: KEP-555, `fieldsV1`. */
interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Fields;
}
interface Fields {
  readonly [name: string]: Fields | undefined;
}

/**
 * The part of a live object that one manager applied: its own labels, annotations and taints, and every other field
 * unchanged. If the hub does not record ownership, the manager owns no labels, annotations and taints.
 */
export function appliedPart(live: KubeObject, manager: string): KubeObject {
  const { managedFields = [], labels, annotations, ...metadata } = live.metadata;
  const own = (managedFields as readonly ManagedFields[]).find(
    (one) => one.manager === manager && one.operation === 'Apply' && (one.subresource ?? '') === '',
  )?.fieldsV1;
  const spec = live['spec'] ?? {};
  const ownsTaints = own?.['f:spec']?.['f:taints'] !== undefined;
  return {
    ...live,
    metadata: {
      ...metadata,
      labels: ownedOf(labels, own?.['f:metadata']?.['f:labels']),
      annotations: ownedOf(annotations, own?.['f:metadata']?.['f:annotations']),
    },
    ...(live['spec'] !== undefined && { spec: ownsTaints ? spec : { ...spec, taints: [] } }),
  };
}

function ownedOf(
  texts: Readonly<Record<string, string>> = {},
  fields: Fields = {},
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).filter(([name]) => Object.hasOwn(fields, `f:${name}`)));
}
