import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { ResourceRef, ResourceVersion } from '../schema/resource-definition.ts';
import { builtinColumns } from './builtin-columns.ts';
import type { Column } from './columns/column.ts';
import { customColumns } from './custom-columns.ts';
import { partialMetadata } from './partial-metadata.ts';

export interface TableOptions {
  readonly listMeta: JsonObject;
  /** What a row contains besides its cells. */
  readonly includeObject: 'None' | 'Metadata' | 'Object';
  /** Milliseconds since the epoch; ages count from it. */
  readonly now: number;
  /** A watch sends the columns only once. */
  readonly withColumns: boolean;
}

const columnsByVersion = new WeakMap<ResourceVersion, readonly Column[]>();

function columnsOf(ref: ResourceRef): readonly Column[] {
  const known = columnsByVersion.get(ref.version);
  if (known !== undefined) return known;
  const { builtIn, group, plural } = ref.definition;
  const columns = builtIn ? builtinColumns(group, plural) : customColumns(ref.version.printerColumns);
  columnsByVersion.set(ref.version, columns);
  return columns;
}

/** meta.k8s.io/v1 Table of objects of one resource. */
export function renderTable(
  ref: ResourceRef,
  items: readonly JsonObject[],
  options: TableOptions,
): JsonObject {
  const columns = columnsOf(ref);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.listMeta,
    columnDefinitions: options.withColumns ? columns.map(definitionJson) : null,
    rows: items.map((object) => ({
      cells: columns.map((column) => column.cell(object, options.now)),
      object: rowObject(object, options.includeObject),
    })),
  };
}

function definitionJson({ name, type, format, description, priority }: Column): JsonObject {
  return { name, type, format, description, priority };
}

function rowObject(object: JsonObject, include: TableOptions['includeObject']): JsonValue {
  if (include === 'None') return null;
  return include === 'Object' ? object : partialMetadata(object);
}
