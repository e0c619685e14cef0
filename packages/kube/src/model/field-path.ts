import { jsonEqual } from '@berth/runtime/json/json-equal';

/** Where a value is inside an object: field names and list indexes, outermost first. */
export type FieldPath = readonly (string | number)[];

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** `spec.predicates[0].labels["a.b/c"]`; the empty path is `(document)`. */
export function formatFieldPath(path: FieldPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (PLAIN_NAME.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text === '' ? '(document)' : text;
}

/** Reads what formatFieldPath writes: `workload.manifests[2].metadata["a.b"]`. */
export function parseFieldPath(text: string): FieldPath {
  const parts: (string | number)[] = [];
  for (const [, index, quoted, name] of text.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g)) {
    if (index !== undefined) parts.push(Number(index));
    else if (quoted !== undefined) parts.push(JSON.parse(`"${quoted}"`) as string);
    else if (name !== undefined) parts.push(name);
  }
  return parts;
}

/** The value of a field; undefined where the path leads nowhere. */
export function valueAt(value: unknown, path: FieldPath): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string | number, unknown>>)[key];
  }
  return found;
}

/** The value without some of its fields. An object or list that becomes empty is removed, too. */
export function withoutFields(value: unknown, paths: readonly FieldPath[]): unknown {
  if (typeof value !== 'object' || value === null || paths.length === 0) return value;
  const kept = (key: string | number, item: unknown): readonly unknown[] => {
    const below = pathsInside(paths, key);
    if (below.length === 0) return [item];
    if (below.some((path) => path.length === 0)) return [];
    const rest = withoutFields(item, below);
    return isEmpty(rest) ? [] : [rest];
  };
  if (Array.isArray(value)) return value.flatMap((item: unknown, at) => kept(at, item));
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => kept(key, item).map((rest) => [key, rest])),
  );
}

/**
 * The value with some fields of another one, if it has their parents and not the fields themselves.
 * Items of two lists are matched by index, unless their names differ.
 */
export function withFieldsOf(value: unknown, other: unknown, paths: readonly FieldPath[]): unknown {
  if (typeof value !== 'object' || value === null || paths.length === 0) return value;
  const inside = (key: string | number, item: unknown): unknown =>
    withFieldsOf(item, valueAt(other, [key]), pathsInside(paths, key));
  if (Array.isArray(value)) {
    if (!Array.isArray(other) || other.length !== value.length) return value;
    return value.map((item: unknown, at) => (isSameItem(item, other[at]) ? inside(at, item) : item));
  }
  const own = Object.entries(value).map(([key, item]) => [key, inside(key, item)] as const);
  const added = paths.flatMap(([key, ...rest]) => {
    if (key === undefined || rest.length > 0 || (valueAt(value, [key]) ?? null) !== null) return [];
    const field = valueAt(other, [key]);
    return field === undefined ? [] : [[key, field] as const];
  });
  return Object.fromEntries([...own, ...added]);
}

function pathsInside(paths: readonly FieldPath[], key: string | number): readonly FieldPath[] {
  return paths.filter(([first]) => first === key).map((path) => path.slice(1));
}

function isSameItem(item: unknown, other: unknown): boolean {
  return ['name', 'key'].every((field) => jsonEqual(valueAt(item, [field]), valueAt(other, [field])));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
