import { OCM_GROUPS, ocmSchema } from '@berth/ocm/definition/ocm-groups';
import type { OcmKind, OcmVersion } from '@berth/ocm/definition/ocm-kind';
import { ALL_VERBS } from './builtin/builtin-definitions.ts';
import { compileRootSchema, definitionName } from './root-schema.ts';
import type { ResourceDefinition, ResourceVersion } from '../schema/resource-definition.ts';
import { compareVersionPriority } from './version-priority.ts';
import { ADDON_CONVERSIONS } from './conversion/addon-conversion.ts';

export function ocmDefinitions(): readonly ResourceDefinition[] {
  return Object.entries(OCM_GROUPS).flatMap(([group, kinds]) =>
    kinds.map((kind) => definitionOf(group, kind)),
  );
}

function definitionOf(group: string, row: OcmKind): ResourceDefinition {
  const singular = row.kind.toLowerCase();
  return {
    group,
    plural: `${singular}s`,
    singular,
    kind: row.kind,
    listKind: `${row.kind}List`,
    shortNames: row.short ?? [],
    categories: [],
    namespaced: row.cluster !== true,
    builtIn: false,
    verbs: ALL_VERBS,
    storageKey: `${singular}s.${group}`,
    ...builtInConversion(group, row.kind),
    versions: [...row.versions]
      .sort((a, b) => compareVersionPriority(a.name, b.name))
      .map((version) => versionOf(group, row.kind, version)),
  };
}

/** Conversions between versions of OCM's kinds that differ in more than their names. */
export function builtInConversion(group: string, kind: string): Pick<ResourceDefinition, 'conversion'> {
  const convert = group === 'addon.open-cluster-management.io' ? ADDON_CONVERSIONS[kind] : undefined;
  return convert === undefined ? {} : { conversion: { kind: 'built-in', convert } };
}

function versionOf(group: string, kind: string, version: OcmVersion): ResourceVersion {
  const schema = compileRootSchema(ocmSchema(version));
  return {
    name: version.name,
    served: true,
    storage: version.storage === true,
    schema: { ...schema, name: definitionName(group, version.name, kind) },
    subresources: { status: version.status === true, others: [] },
    printerColumns: version.columns ?? [],
    selectableFields: [],
  };
}
