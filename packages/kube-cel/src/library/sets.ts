import { costSize } from '../value/cel-cost.ts';
import { celEquals } from '../value/cel-equality.ts';
import type { CelValue } from '../value/cel-value.ts';
import { lift } from '../value/cel-value.ts';
import type { CelOverload } from '../value/overload.ts';
import { overload } from '../value/overload.ts';

/** Lists as sets. Source: cel-go `ext/sets.go`. */

type List = readonly unknown[];

const has = (list: List, item: unknown): boolean => list.some((one) => celEquals(lift(one), lift(item)));
const contains = (list: List, part: List): boolean => part.every((item) => has(list, item));

/** Cost of comparing each item of one list with each item of the other. */
const pairCost = ([one, other]: readonly CelValue[]): number => costSize(one) * costSize(other) + 1;
const bothWaysCost = (args: readonly CelValue[]): number => 2 * (pairCost(args) - 1) + 1;

export const SETS: readonly CelOverload[] = [
  overload('sets.contains(list<T>, list<T>): bool', contains, pairCost),
  overload(
    'sets.equivalent(list<T>, list<T>): bool',
    (one: List, other: List) => contains(one, other) && contains(other, one),
    bothWaysCost,
  ),
  overload(
    'sets.intersects(list<T>, list<T>): bool',
    (one: List, other: List) => one.some((item) => has(other, item)),
    pairCost,
  ),
];
