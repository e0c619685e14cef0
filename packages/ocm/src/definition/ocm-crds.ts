import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { JsonObject, JsonValue } from '@berth/runtime/json/json-value';
import type { PlacementSpec } from '../kind/placement.ts';
import { ACCESS_GROUPS } from './access-kinds.ts';
import { OCM_GROUPS, ocmSchema } from './ocm-groups.ts';
import type { OcmKind } from './ocm-kind.ts';
import { PLACEMENT_KIND } from './placement-kind.ts';

const PLACEMENT_SPEC = PLACEMENT_KIND.versions[0]?.fields['spec!'] ?? {};

const ALL_GROUPS = { ...OCM_GROUPS, ...ACCESS_GROUPS };

/**
 * The CustomResourceDefinitions of OCM's kinds, made from the one description of their fields.
 * @param groups default: those that each hub has
 */
export function ocmCrds(groups: readonly string[] = Object.keys(OCM_GROUPS)): readonly JsonObject[] {
  return groups.flatMap((group) => (ALL_GROUPS[group] ?? []).map((row) => crdOf(group, row)));
}

/** Also those that a hub has with an add-on. */
export function allCrds(): readonly JsonObject[] {
  return ocmCrds(Object.keys(ALL_GROUPS));
}

function crdOf(group: string, { kind, cluster, short, versions }: OcmKind): JsonObject {
  const singular = kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      scope: cluster === true ? 'Cluster' : 'Namespaced',
      names: {
        plural: `${singular}s`,
        singular,
        kind,
        listKind: `${kind}List`,
        shortNames: [...(short ?? [])],
      },
      versions: versions.map((version) => ({
        name: version.name,
        served: true,
        storage: version.storage === true,
        schema: { openAPIV3Schema: ocmSchema(version) },
        subresources: version.status === true ? { status: {} } : {},
        ...(version.columns !== undefined && {
          additionalPrinterColumns: version.columns.map((column) => ({ ...column })),
        }),
      })),
    },
  };
}

/**
 * A placement's spec without fields that equal their defaults. It is the same for the spec in Git
 * and for the stored one, independent of the defaults in the hub's CRD.
 */
export function withoutPlacementDefaults(spec: PlacementSpec): unknown {
  return withoutDefaults(PLACEMENT_SPEC, spec);
}

/** @param schema OpenAPI v3; fields that it does not have are kept */
function withoutDefaults(schema: JsonObject, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutDefaults(objectOf(schema['items']), item));
  if (typeof value !== 'object' || value === null) return value;
  const properties = objectOf(schema['properties']);
  const kept = Object.entries(value).flatMap(([name, one]) => {
    const field = objectOf(Object.hasOwn(properties, name) ? properties[name] : undefined);
    const isDefault = one === undefined || ('default' in field && jsonEqual(field['default'], one));
    return isDefault ? [] : [[name, withoutDefaults(field, one)] as const];
  });
  return Object.fromEntries(kept);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
