import { groupResource } from '@berth/kube/model/kinds';
import type { ResourceDefinition, Subresources } from '../../schema/resource-definition.ts';
import type { Schema } from '../../schema/schema.ts';
import {
  BUILTIN_RESOURCES,
  type BuiltinResource,
  SUBRESOURCE_KINDS,
  WORKLOAD_SCALE,
} from './builtin-resources.ts';
import { builtinSchema } from './builtin-schemas.ts';

/** The verbs of a stored resource. */
export const ALL_VERBS = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const;

/** Kubernetes' own resources. Printer columns of these kinds are code (table/), not paths. */
export function builtinDefinitions(): readonly ResourceDefinition[] {
  return BUILTIN_RESOURCES.map(definitionOf);
}

/** Schema of a kind that exists only as the body of a subresource (Scale, TokenRequest). */
export function subresourceKindSchema(group: string, kind: string): Schema | undefined {
  const row = SUBRESOURCE_KINDS.find((known) => known.group === group && known.kind === kind);
  return row === undefined ? undefined : builtinSchema(row.schema);
}

function definitionOf(row: BuiltinResource): ResourceDefinition {
  const singular = row.kind.toLowerCase();
  const subresources: Subresources = {
    status: row.status === true,
    ...(row.scale === true ? { scale: WORKLOAD_SCALE } : {}),
    others: row.subresources ?? [],
  };
  return {
    group: row.group,
    plural: row.plural,
    singular,
    kind: row.kind,
    listKind: `${row.kind}List`,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    namespaced: row.namespaced,
    builtIn: true,
    verbs: row.review === true ? ['create'] : ALL_VERBS,
    storageKey: row.storageKey ?? groupResource(row),
    versions: [row, ...(row.alsoServed ?? [])].map(({ version, schema }) => ({
      name: version,
      served: true,
      storage: version === row.version,
      schema: builtinSchema(schema),
      subresources,
      printerColumns: [],
      selectableFields: row.selectableFields ?? [],
    })),
  };
}
