import { combine } from './build-logic.ts';
import type { BuildNode } from './build-literal.ts';
import type { BuildScope, BuiltCel, CelFrame } from './build-scope.ts';
import { COST_EXCEEDED } from '../value/cel-cost.ts';
import { celMapKeys, isCelMap } from '../value/cel-map.ts';
import type { CelCallNode, CelNode } from '../syntax/cel-node.ts';
import type { CelType } from '../value/cel-type.ts';
import { BOOL, celType, DYN, formatType, unify } from '../value/cel-type.ts';
import type { CelResult, CelValue } from '../value/cel-value.ts';
import { CelFailure, celTypeName, lift } from '../value/cel-value.ts';

/**
 * The macros that walk a list, or the keys of a map: all, exists, exists_one, map, filter.
 *
 * Each has its own loop instead of cel-go's general fold, but costs what that fold costs: the numbers below are the
 * hidden accumulator reads, condition checks and list concatenations of the expansion.
 */
const ALL_STEP_COST = 3;
const EXISTS_STEP_COST = 4;
const APPEND_COST = 12;
const READ_RESULT_COST = 1;

type Loop = (frame: CelFrame, items: readonly unknown[]) => CelResult;

export function isComprehension(node: CelCallNode): boolean {
  if (node.receiver === undefined) return false;
  if (node.name === 'map') return node.args.length === 2 || node.args.length === 3;
  return node.args.length === 2 && ['all', 'exists', 'exists_one', 'existsOne', 'filter'].includes(node.name);
}

export function buildComprehension(node: CelCallNode, scope: BuildScope, build: BuildNode): BuiltCel {
  const { receiver } = node;
  const [variable, ...bodies] = node.args;
  if (receiver === undefined || variable?.kind !== 'ident')
    return scope.fail(variable ?? node, 'argument must be a simple name');
  const range = build(receiver, scope);
  const item = itemType(range.type, receiver, scope);
  const inner = scope.with(variable.name, item);
  const built = bodies.map((body) => build(body, inner.scope));
  const [first, second] = built;
  if (first === undefined) return scope.fail(node, 'two arguments expected');
  if (node.name !== 'map' || second !== undefined) wantBool(first, bodies[0] ?? node, scope);
  const loop = makeLoop(node.name, { slot: inner.slot, first: first.run, second: second?.run });
  return {
    type: comprehensionType(node.name, { item, first: first.type, second: second?.type }),
    run: (frame) => {
      const from = range.run(frame);
      if (from instanceof CelFailure) return from;
      const items = itemsOf(from);
      return items instanceof CelFailure ? items : loop(frame, items);
    },
  };
}

function wantBool(built: BuiltCel, node: CelNode, scope: BuildScope): void {
  if (!unify(BOOL, built.type, new Map()))
    scope.fail(node, `expected type 'bool' but found '${formatType(built.type)}'`);
}

function itemType(range: CelType, node: CelNode, scope: BuildScope): CelType {
  if (range.name === 'dyn') return DYN;
  if (range.name === 'list' || range.name === 'map') return range.params[0] ?? DYN;
  return scope.fail(
    node,
    `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
  );
}

function comprehensionType(
  name: string,
  types: { readonly item: CelType; readonly first: CelType; readonly second: CelType | undefined },
): CelType {
  if (name === 'map') return celType('list', types.second ?? types.first);
  return name === 'filter' ? celType('list', types.item) : BOOL;
}

function itemsOf(value: CelValue): readonly unknown[] | CelFailure {
  if (Array.isArray(value)) return value as readonly unknown[];
  if (isCelMap(value)) return celMapKeys(value);
  return new CelFailure(`no such overload: cannot walk over ${celTypeName(value)}`);
}

interface Body {
  readonly slot: number;
  readonly first: (frame: CelFrame) => CelResult;
  readonly second: ((frame: CelFrame) => CelResult) | undefined;
}

function makeLoop(name: string, body: Body): Loop {
  switch (name) {
    case 'all':
      return quantifier(body, false, ALL_STEP_COST);
    case 'exists':
      return quantifier(body, true, EXISTS_STEP_COST);
    case 'exists_one':
    case 'existsOne':
      return exactlyOne(body);
    case 'filter':
      return collect({ ...body, second: (frame) => frame.slots[body.slot] ?? null, filtered: true });
    default:
      return collect({ ...body, second: body.second ?? body.first, filtered: body.second !== undefined });
  }
}

/** Stops at the deciding value; an error counts only if nothing decides. */
function quantifier(body: Body, deciding: boolean, stepCost: number): Loop {
  return (frame, items) => {
    let result: CelResult = !deciding;
    for (const item of items) {
      frame.slots[body.slot] = lift(item);
      frame.cost += stepCost;
      const value = body.first(frame);
      if (frame.cost > frame.limit) return COST_EXCEEDED;
      if (value === deciding) {
        result = deciding;
        break;
      }
      result = combine(result, value, !deciding);
      if (result instanceof CelFailure && result.fatal) return result;
    }
    frame.cost += READ_RESULT_COST;
    return result;
  };
}

function exactlyOne(body: Body): Loop {
  return (frame, items) => {
    let count = 0;
    for (const item of items) {
      frame.slots[body.slot] = lift(item);
      const value = body.first(frame);
      frame.cost += value === true ? 2 : 1;
      if (frame.cost > frame.limit) return COST_EXCEEDED;
      if (typeof value !== 'boolean') return notBool(value);
      if (value) count++;
    }
    frame.cost += READ_RESULT_COST + 1;
    return count === 1;
  };
}

function collect(
  body: Required<Body> & { readonly filtered: boolean; readonly second: Body['first'] },
): Loop {
  return (frame, items) => {
    const out: CelValue[] = [];
    for (const item of items) {
      frame.slots[body.slot] = lift(item);
      const keep = body.filtered ? body.first(frame) : true;
      if (typeof keep !== 'boolean') return notBool(keep);
      frame.cost += keep ? APPEND_COST : READ_RESULT_COST;
      const value = keep ? body.second(frame) : undefined;
      if (frame.cost > frame.limit) return COST_EXCEEDED;
      if (value instanceof CelFailure) return value;
      if (value !== undefined) out.push(value);
    }
    frame.cost += READ_RESULT_COST;
    return out;
  };
}

function notBool(value: CelResult): CelFailure {
  return value instanceof CelFailure
    ? value
    : new CelFailure(`no such overload: a bool was expected, got ${celTypeName(value)}`);
}
