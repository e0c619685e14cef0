import { findResults } from '@berth/kube-jsonpath/find-results';
import { formatJsonPathValue } from '@berth/kube-jsonpath/format-value';
import { parseJsonPath } from '@berth/kube-jsonpath/parse-template';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { PrinterColumn } from '../schema/resource-definition.ts';
import type { Column } from './columns/column.ts';
import { AGE_COLUMN, NAME_COLUMN } from './columns/column.ts';
import { ageText } from './columns/human-duration.ts';

/** Columns of a custom resource: its name and what its definition declares; name and age when it declares nothing. */
export function customColumns(declared: readonly PrinterColumn[]): readonly Column[] {
  return declared.length === 0 ? [NAME_COLUMN, AGE_COLUMN] : [NAME_COLUMN, ...declared.map(columnFrom)];
}

function columnFrom(declared: PrinterColumn): Column {
  const find = finder(declared.jsonPath);
  return {
    name: declared.name,
    type: declared.type,
    format: declared.format ?? '',
    description: declared.description ?? '',
    priority: declared.priority ?? 0,
    cell: (object, now) => cellOf(declared.type, find(object), now),
  };
}

/** The first result of a path; undefined where there is none or the path cannot be followed. */
function finder(path: string): (object: JsonObject) => unknown {
  const parsed = parseJsonPath(`{${path}}`);
  if (!parsed.ok) return () => undefined;
  return (object) => {
    const found = findResults(parsed.template, object);
    return found.ok ? found.results[0]?.[0] : undefined;
  };
}

function cellOf(type: string, value: unknown, now: number): JsonValue {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageText(value, now) : null;
    default:
      return formatJsonPathValue(value);
  }
}
