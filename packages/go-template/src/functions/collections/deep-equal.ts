import type { GoMap } from '../../value/go-map.ts';
import type { Any, GoType, Value } from '../../value/go-type.ts';
import { checkDepth } from '../../value/work.ts';

/** reflect.DeepEqual: values of different types are never equal, and neither are nil and an empty list. */
export function deepEqual(left: Any, right: Any, depth = 0): boolean {
  checkDepth(depth);
  if (left === null || right === null) return left === right;
  if (left.type.name !== right.type.name) return false;
  if (left.data === right.data) return !Number.isNaN(left.data);
  if (left.data === null || right.data === null) return false;
  switch (left.type.kind) {
    case 'slice':
      return equalLists(left, right, depth);
    case 'map':
      return equalMaps(left as Value<GoMap>, right as Value<GoMap>, depth);
    case 'struct':
    case 'ptr':
      return sameText(left, right);
    case 'complex128':
      return JSON.stringify(left.data) === JSON.stringify(right.data);
    default:
      return false;
  }
}

/** The value in a list or a map as an `interface {}` would hold it. */
function inside(type: GoType | undefined, data: unknown): Any {
  return type === undefined || type.kind === 'interface' ? (data as Any) : { type, data };
}

function equalLists(left: Value, right: Value, depth: number): boolean {
  const [a, b] = [left.data as readonly unknown[], right.data as readonly unknown[]];
  const { elem } = left.type;
  return (
    a.length === b.length &&
    a.every((element, index) => deepEqual(inside(elem, element), inside(elem, b[index]), depth + 1))
  );
}

function equalMaps(left: Value<GoMap>, right: Value<GoMap>, depth: number): boolean {
  const { elem } = left.type;
  return (
    left.data.size === right.data.size &&
    left.data
      .entries()
      .every(
        ([key, data]) =>
          right.data.has(key) && deepEqual(inside(elem, data), inside(elem, right.data.get(key)), depth + 1),
      )
  );
}

/**
 * Compares times and versions. Their data determines all their fields, so equal data means equal
 * values.
 */
function sameText(left: Value, right: Value): boolean {
  const stable = (value: Value): string =>
    JSON.stringify(value.data, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part));
  return stable(left) === stable(right);
}
