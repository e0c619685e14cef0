import { utf8LengthBytes } from '@berth/runtime/text/utf8';
import { celMapGet, celMapKeys, celMapSize, isCelMap } from './cel-map.ts';
import { codePointCount } from './code-points.ts';
import { CelFailure, type CelResult, type CelValue, lift } from './cel-value.ts';

/** Run-time costs as the Kubernetes API server counts them: an abstract unit, about one simple step each. */

/** Cost limit of one evaluation of one expression. */
export const COST_LIMIT_PER_CALL = 1_000_000;
/** Cost limit of all expressions about one object in one evaluation. */
export const COST_BUDGET = 10_000_000;
export const COST_BUDGET_MESSAGE = 'CEL evaluation budget exceeded';

export const COST_LIMIT_MESSAGE = 'operation cancelled: actual cost limit exceeded';
export const COST_EXCEEDED = new CelFailure(COST_LIMIT_MESSAGE, true);

export const LIST_CREATE_COST = 10;
export const MAP_CREATE_COST = 30;
const STRING_TRAVERSAL = 0.1;
const REGEX_LENGTH = 0.25;

/** Length of a string, list or map; 1 for other values. */
export function costSize(value: CelResult | undefined): number {
  if (typeof value === 'string') return codePointCount(value);
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length;
  if (value === undefined || value instanceof CelFailure) return 1;
  return isCelMap(value) ? celMapSize(value) : 1;
}

const traversal = (value: CelResult | undefined): number => Math.ceil(costSize(value) * STRING_TRAVERSAL);

/** Cost of reading the first argument once. */
export function traverseCost(args: readonly CelValue[]): number {
  return traversal(args[0]);
}

/** Cost of comparing two values: the length of the shorter one. */
export function compareCost(args: readonly CelValue[]): number {
  return Math.ceil(Math.min(costSize(args[0]), costSize(args[1])) * STRING_TRAVERSAL);
}

/** Copying both. */
export function concatCost(args: readonly CelValue[]): number {
  return Math.ceil((costSize(args[0]) + costSize(args[1])) * STRING_TRAVERSAL);
}

/** Cost of searching the second argument in the first. */
export function containsCost(args: readonly CelValue[]): number {
  return traversal(args[0]) * traversal(args[1]);
}

/** Linear-time regular expression (second argument) over text (first argument). */
export function regexCost(args: readonly CelValue[]): number {
  return patternCost(args[0], costSize(args[1]));
}

/** The cost of such an expression if only the length of the pattern is known. */
export function patternCost(text: CelValue | undefined, patternLength: number): number {
  return Math.ceil((1 + costSize(text)) * STRING_TRAVERSAL) * Math.ceil(patternLength * REGEX_LENGTH);
}

/** Cost of reading the first argument and everything in it once; a small value costs nothing. */
export function deepTraverseCost(args: readonly CelValue[]): number {
  return deepTraversal(args[0] ?? null);
}

function deepTraversal(value: CelValue): number {
  if (typeof value === 'string') return Math.trunc(utf8LengthBytes(value) * STRING_TRAVERSAL);
  if (value instanceof Uint8Array) return Math.trunc(value.length * STRING_TRAVERSAL);
  if (Array.isArray(value)) return sumOf(value as readonly unknown[]);
  if (!isCelMap(value)) return 1;
  const keys = celMapKeys(value);
  return sumOf(keys) + sumOf(keys.map((key) => celMapGet(value, key)));
}

function sumOf(items: readonly unknown[]): number {
  return items.reduce<number>((sum, item) => sum + deepTraversal(lift(item)), 0);
}

/** `x in list`: the list is the second argument. */
export function inListCost(args: readonly CelValue[]): number {
  return costSize(args[1]);
}

/** Cost of reading the first argument and writing the result. */
export function rewriteCost(args: readonly CelValue[]): number {
  return Math.ceil(costSize(args[0]) * 2 * STRING_TRAVERSAL);
}

/** Cost of reading the parts of a result and writing it. */
export function assembleCost(_args: readonly CelValue[], result: CelResult): number {
  return Math.ceil(costSize(result) * 2 * STRING_TRAVERSAL);
}
