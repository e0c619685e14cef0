import { goTypeName, JsonFloat, isInteger } from '@berth/runtime/json/json-float';
import { compareUtf8 } from '@berth/runtime/text/utf8';
import { formatJsonPathValue } from './format-value.ts';
import type { JsonPathTemplate, ListNode, PathNode } from './parse-template.ts';

export type JsonPathResults =
  /** One list per top-level text or action. Order over a map's values is the map's own. */
  | { readonly ok: true; readonly results: readonly (readonly unknown[])[] }
  | { readonly ok: false; readonly error: string };

/**
 * A failing step still returns values: a filter that checks existence uses them, and ignores the
 * failure.
 */
interface Walked {
  readonly values: readonly unknown[];
  readonly error?: string;
}

/**
 * Evaluates a template on a value of plain JSON (bigint and JsonFloat keep what a number cannot). Missing keys give
 * nothing; indexes out of bounds, indexes into what is not a list and comparisons across types are errors.
 */
export function findResults(template: JsonPathTemplate, data: unknown): JsonPathResults {
  return new Evaluation(template.nodes).run(data);
}

/** `..` over a large object, several times over, is the one way to make a short path expensive. */
const MAX_VISITS = 1_000_000;
const MAX_DEPTH = 1_000;

class Evaluation {
  private readonly nodes: readonly PathNode[];
  private visits = 0;
  private beginRange = 0;
  private inRange = 0;
  private endRange = 0;
  private lastEnd = -1;

  constructor(nodes: readonly PathNode[]) {
    this.nodes = nodes;
  }

  run(data: unknown): JsonPathResults {
    const results: (readonly unknown[])[] = [];
    const error = this.runFrom(0, data, results);
    return error === undefined ? { ok: true, results } : { ok: false, error };
  }

  /** Top-level nodes from `first` on, until the end of the range they are in. Returns the error, if any. */
  private runFrom(first: number, data: unknown, results: (readonly unknown[])[]): string | undefined {
    for (let index = first; index < this.nodes.length; index++) {
      const found = this.walk([data], this.nodes[index] as PathNode);
      if (found.error !== undefined) return found.error;
      if (this.endRange > 0 && this.endRange <= this.inRange) {
        this.endRange -= 1;
        this.lastEnd = index;
        return undefined;
      }
      if (this.beginRange === 0) {
        results.push(found.values);
        continue;
      }
      const error = this.runRange(index, found.values, results);
      if (error !== undefined) return error;
      // Continue after the end of the range; a range without an end continues with the outer value.
      if (this.lastEnd > index) index = this.lastEnd;
    }
    return undefined;
  }

  private runRange(
    index: number,
    values: readonly unknown[],
    results: (readonly unknown[])[],
  ): string | undefined {
    this.beginRange -= 1;
    this.inRange += 1;
    // An empty range is walked once without output, to find its end.
    const rounds = values.length > 0 ? values : [null];
    for (const value of rounds) {
      const error = this.runFrom(index + 1, value, values.length > 0 ? results : []);
      if (error !== undefined) return error;
    }
    this.inRange -= 1;
    return undefined;
  }

  private walk(input: readonly unknown[], node: PathNode): Walked {
    this.visits += input.length + 1;
    if (this.visits > MAX_VISITS)
      return { values: [], error: `the path visits more than ${MAX_VISITS} values` };
    switch (node.type) {
      case 'list':
        return this.walkList(input, node);
      case 'text':
        return { values: [node.text] };
      case 'integer':
      case 'boolean':
        return { values: input.map(() => node.value) };
      case 'float':
        return { values: input.map(() => new JsonFloat(node.value)) };
      case 'field':
        return { values: input.flatMap((value) => fieldOf(value, node.name)) };
      case 'wildcard':
        return { values: input.flatMap(childrenOf) };
      case 'recursive':
        return this.walkRecursive(input, 0);
      case 'slice':
        return cutSlice(input, node);
      case 'filter':
        return this.walkFilter(input, node);
      case 'union':
        return this.walkUnion(input, node.lists);
      case 'identifier':
        return this.walkIdentifier(input, node.name);
    }
  }

  private walkList(input: readonly unknown[], list: ListNode): Walked {
    let current: Walked = { values: input };
    for (const node of list.nodes) {
      current = this.walk(current.values, node);
      if (current.error !== undefined) break;
    }
    return current;
  }

  private walkUnion(input: readonly unknown[], lists: readonly ListNode[]): Walked {
    const values: unknown[] = [];
    for (const list of lists) {
      const found = this.walkList(input, list);
      if (found.error !== undefined) return { values: input, error: found.error };
      append(values, found.values);
    }
    return { values };
  }

  private walkRecursive(input: readonly unknown[], depth: number): Walked {
    const values: unknown[] = [];
    for (const value of input) {
      const children = childrenOf(value);
      if (children.length === 0) continue;
      this.visits += children.length;
      if (this.visits > MAX_VISITS || depth > MAX_DEPTH)
        return { values, error: `".." visits more than ${MAX_VISITS} values or ${MAX_DEPTH} levels` };
      values.push(value);
      const below = this.walkRecursive(children, depth + 1);
      append(values, below.values);
      if (below.error !== undefined) return { values, error: below.error };
    }
    return { values };
  }

  private walkFilter(input: readonly unknown[], node: Extract<PathNode, { type: 'filter' }>): Walked {
    const values: unknown[] = [];
    for (const value of input) {
      if (!Array.isArray(value))
        return { values: input, error: `${brief(value)} is not array or slice and cannot be filtered` };
      for (const item of value as readonly unknown[]) {
        const kept = this.passes(item, node);
        if (kept.error !== undefined) return { values: input, error: kept.error };
        if (kept.pass) values.push(item);
      }
    }
    return { values };
  }

  private passes(
    item: unknown,
    node: Extract<PathNode, { type: 'filter' }>,
  ): { readonly pass: boolean; readonly error?: string } {
    const left = this.walkList([item], node.left);
    if (node.operator === 'exists') return { pass: left.values.length > 0 };
    if (left.error !== undefined) return { pass: false, error: left.error };
    if (left.values.length === 0) return { pass: false };
    if (left.values.length > 1) return { pass: false, error: ONE_AT_A_TIME };
    const right = this.walkList([item], node.right);
    if (right.error !== undefined) return { pass: false, error: right.error };
    if (right.values.length === 0) return { pass: false };
    if (right.values.length > 1) return { pass: false, error: ONE_AT_A_TIME };
    const comparison = compareValues(node.operator, left.values[0], right.values[0]);
    return comparison.ok ? { pass: comparison.pass } : { pass: false, error: comparison.error };
  }

  private walkIdentifier(input: readonly unknown[], name: string): Walked {
    if (name === 'range') {
      this.beginRange += 1;
      return { values: input };
    }
    if (name !== 'end') return { values: input, error: `unrecognized identifier ${name}` };
    if (this.inRange === 0) return { values: [], error: 'not in range, nothing to end' };
    this.endRange += 1;
    return { values: [] };
  }
}

const ONE_AT_A_TIME = 'can only compare one element at a time';

function fieldOf(value: unknown, name: string): readonly unknown[] {
  if (!isMap(value) || !Object.hasOwn(value, name)) return [];
  return [value[name]];
}

function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[];
  if (isMap(value)) return Object.values(value);
  if (typeof value === 'string') return Array.from(new TextEncoder().encode(value), (b) => new JsonFloat(b));
  return [];
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonFloat)
  );
}

/** Without spread: arguments of a call are limited, lists are not. */
function append(target: unknown[], more: readonly unknown[]): void {
  for (const value of more) target.push(value);
}

function brief(value: unknown): string {
  return typeof value === 'object' ? goTypeName(value) : formatJsonPathValue(value);
}

type Comparison =
  | { readonly ok: true; readonly pass: boolean }
  | { readonly ok: false; readonly error: string };

const BAD_TYPE: Comparison = { ok: false, error: 'invalid type for comparison' };
const INCOMPATIBLE: Comparison = { ok: false, error: 'incompatible types for comparison' };
const KNOWN = new Set(['<', '>', '==', '!=', '<=', '>=']);

/** One comparison of a filter. Kinds never mix: an integer and a float are as incompatible as text and a number. */
function compareValues(operator: string, left: unknown, right: unknown): Comparison {
  if (!KNOWN.has(operator)) return { ok: false, error: `unrecognized filter operator ${operator}` };
  const kind = basicKind(left);
  const other = basicKind(right);
  if (kind === undefined || other === undefined) return BAD_TYPE;
  if (kind !== other) return INCOMPATIBLE;
  if (operator !== '==' && operator !== '!=' && kind === 'bool') return BAD_TYPE;
  return { ok: true, pass: holds(operator, order(left, right)) };
}

/** NaN (a float that compares with nothing) makes only `!=`, `>` and `>=` true, as negations of the others. */
function holds(operator: string, sign: number): boolean {
  switch (operator) {
    case '<':
      return sign < 0;
    case '<=':
      return sign <= 0;
    case '==':
      return sign === 0;
    case '!=':
      return sign !== 0;
    case '>':
      return !(sign <= 0);
    default:
      return !(sign < 0);
  }
}

function basicKind(value: unknown): 'bool' | 'int' | 'float' | 'string' | undefined {
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (isInteger(value)) return 'int';
  return typeof value === 'number' || value instanceof JsonFloat ? 'float' : undefined;
}

function order(left: unknown, right: unknown): number {
  if (typeof left === 'string') return compareUtf8(left, right as string);
  const [a, b] = [plain(left), plain(right)];
  if (a < b) return -1;
  return a > b ? 1 : a === b ? 0 : Number.NaN;
}

/** Mixed number and bigint compare exactly in JavaScript; only `===` needs equal types. */
function plain(value: unknown): number | bigint {
  if (value instanceof JsonFloat) return value.value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return typeof value === 'boolean' ? Number(value) : (value as number);
}

/** With an error, `values` are the input. */
interface Cut {
  readonly values: readonly unknown[];
  readonly error?: string;
}

/**
 * `[1]`, `[-1]`, `[0:2]`, `[::2]`, `[*]` on each value. Bounds must be in the list, except that an empty range
 * is always empty; it also ends the walk over the remaining values.
 * Source: client-go `util/jsonpath/jsonpath.go`, evalArray.
 */
function cutSlice(input: readonly unknown[], node: Extract<PathNode, { type: 'slice' }>): Cut {
  const values: unknown[] = [];
  for (const value of input) {
    if (value === null || value === undefined) continue;
    if (!Array.isArray(value)) return { values: input, error: `${goTypeName(value)} is not array or slice` };
    const list = value as readonly unknown[];
    const [from, to] = bounds(node, list.length);
    if (from === to) return { values };
    const error = outOfBounds(from, to, list.length);
    if (error !== undefined) return { values: input, error };
    const step = node.step.known ? node.step.value : 1;
    if (step <= 0) return { values: input, error: 'step must be > 0' };
    for (let index = from; index < to; index += step) values.push(list[index]);
  }
  return { values };
}

function bounds(node: Extract<PathNode, { type: 'slice' }>, length: number): readonly [number, number] {
  const from = node.from.known ? node.from.value : 0;
  if (!node.to.known) return [from < 0 ? from + length : from, length];
  const to = node.to.value;
  const fromEnd = to < 0 || (to === 0 && node.to.derived === true);
  return [from < 0 ? from + length : from, fromEnd ? to + length : to];
}

function outOfBounds(from: number, to: number, length: number): string | undefined {
  if (from >= length || from < 0) return `array index out of bounds: index ${from}, length ${length}`;
  if (to > length || to < 0) return `array index out of bounds: index ${to - 1}, length ${length}`;
  if (from > to) return `starting index ${from} is greater than ending index ${to}`;
  return undefined;
}
