import type { JsonValue } from '../json/json-value.ts';
import { deepEqual, getOwn, isObject } from '../json/json-value.ts';

/** What the order of a merged list follows. */
export interface ListOrder {
  /** Undefined for lists of plain values. */
  readonly mergeKey: string | undefined;
  /** Items of the patch, or of its `$setElementOrder`. */
  readonly patch: readonly JsonValue[];
  /** The list before the patch. */
  readonly server: readonly JsonValue[];
}

/**
 * Items that the patch names stand in the patch's order; the others are put between them, each before the first item of the patch
 * that came after it before. An item new to the list comes first. Source of the rule: strategic merge patch.
 */
export function orderMergedList(merged: readonly JsonValue[], order: ListOrder): JsonValue[] {
  const identity = (item: JsonValue): JsonValue | undefined =>
    order.mergeKey !== undefined && isObject(item) ? getOwn(item, order.mergeKey) : item;
  const indexIn = (list: readonly JsonValue[], item: JsonValue): number =>
    list.findIndex((one) => deepEqual(identity(one), identity(item)));
  const sortedBy = (items: JsonValue[], list: readonly JsonValue[]): JsonValue[] =>
    items.sort((a, b) => indexIn(list, a) - indexIn(list, b));
  const named = sortedBy(
    merged.filter((item) => indexIn(order.patch, item) >= 0),
    order.patch,
  );
  const others = sortedBy(
    merged.filter((item) => indexIn(order.patch, item) < 0),
    order.server,
  );
  const result: JsonValue[] = [];
  while (others.length > 0 || named.length > 0) {
    const [other, name] = [others[0], named[0]];
    if (other === undefined || name === undefined) {
      result.push(...others.splice(0), ...named.splice(0));
      continue;
    }
    const [before, after] = [indexIn(order.server, other), indexIn(order.server, name)];
    const otherFirst = before >= 0 && after >= 0 && before < after;
    result.push((otherFirst ? others : named).shift() as JsonValue);
  }
  return result;
}
