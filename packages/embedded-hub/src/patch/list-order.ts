import { canonicalJson } from '../json/canonical-json.ts';
import type { JsonValue } from '../json/json-value.ts';
import { getOwn, isObject } from '../json/json-value.ts';
import { chargeWork } from '../json/work-budget.ts';

/** Inputs of the order of a merged list. */
export interface ListOrder {
  /** Undefined for lists of plain values. */
  readonly mergeKey: string | undefined;
  /** Items of the patch, or of its `$setElementOrder`. */
  readonly patch: readonly JsonValue[];
  /** The list before the patch. */
  readonly server: readonly JsonValue[];
}

/** What identifies items of a merged list: equal texts for equal keys (plain values: for equal values), '' without a key. */
export function itemIdentity(mergeKey: string | undefined, item: JsonValue): string {
  chargeWork(1);
  const key = mergeKey !== undefined && isObject(item) ? getOwn(item, mergeKey) : item;
  return key === undefined ? '' : canonicalJson(key);
}

/** An item, and its index in the patch and in the list before it; -1 where it is absent. */
interface Placed {
  readonly item: JsonValue;
  readonly inPatch: number;
  readonly inServer: number;
}

/**
 * Items of the patch have the order of the patch. Each other item is placed before the first item
 * of the patch that followed it in the live list. New items are first. Source of the rule:
 * strategic merge patch.
 */
export function orderMergedList(merged: readonly JsonValue[], order: ListOrder): JsonValue[] {
  const [patch, server] = [positions(order.mergeKey, order.patch), positions(order.mergeKey, order.server)];
  const placed = merged.map((item): Placed => {
    const identity = itemIdentity(order.mergeKey, item);
    return { item, inPatch: patch.get(identity) ?? -1, inServer: server.get(identity) ?? -1 };
  });
  const named = placed.filter(({ inPatch }) => inPatch >= 0).sort((a, b) => a.inPatch - b.inPatch);
  const others = placed.filter(({ inPatch }) => inPatch < 0).sort((a, b) => a.inServer - b.inServer);
  const result: JsonValue[] = [];
  let [nextOther, nextNamed] = [0, 0];
  while (nextOther < others.length || nextNamed < named.length) {
    const [other, name] = [others[nextOther], named[nextNamed]];
    if (other !== undefined && (name === undefined || precedes(other, name))) {
      result.push(other.item);
      nextOther += 1;
    } else if (name !== undefined) {
      result.push(name.item);
      nextNamed += 1;
    }
  }
  return result;
}

function precedes(other: Placed, name: Placed): boolean {
  return other.inServer >= 0 && name.inServer >= 0 && other.inServer < name.inServer;
}

/** Index of the first item of every identity. */
function positions(mergeKey: string | undefined, list: readonly JsonValue[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const identity = itemIdentity(mergeKey, item);
    if (!found.has(identity)) found.set(identity, index);
  }
  return found;
}
