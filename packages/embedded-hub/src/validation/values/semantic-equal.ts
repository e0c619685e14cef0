import { compareQuantities, parseQuantity } from '@berth/kube/model/quantity';
import { getOwn, isObject, type JsonValue } from '../../json/json-value.ts';

/** Fields whose values are quantities: `1Gi` and `1024Mi` are the same. */
const QUANTITIES = new Set(['requests', 'limits', 'capacity', 'hard', 'overhead']);

/**
 * Whether the API server considers two values equal: empty and absent are equal, quantities are
 * compared by value. Source: apimachinery, pkg/api/equality (Semantic).
 */
export function semanticEqual(
  left: JsonValue | undefined,
  right: JsonValue | undefined,
  inQuantities = false,
): boolean {
  if (left === right || (isEmpty(left) && isEmpty(right))) return true;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => semanticEqual(item, right[index]));
  if (isObject(left) && isObject(right)) {
    const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
    return [...keys].every((key) =>
      semanticEqual(getOwn(left, key), getOwn(right, key), inQuantities || QUANTITIES.has(key)),
    );
  }
  return inQuantities && sameQuantity(left, right);
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function sameQuantity(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (typeof left !== 'string' && typeof left !== 'number') return false;
  if (typeof right !== 'string' && typeof right !== 'number') return false;
  const [one, other] = [parseQuantity(left), parseQuantity(right)];
  return one !== undefined && other !== undefined && compareQuantities(one, other) === 0;
}
