import type { CelCallNode, CelNode } from '../syntax/cel-node.ts';
import { COST_EXCEEDED } from '../value/cel-cost.ts';
import { celMapKeys, isCelMap } from '../value/cel-map.ts';
import {
  type CelType,
  type TypeBindings,
  DYN,
  formatType,
  isTypeParameter,
  sameType,
  substitute,
  unify,
  valueHasType,
  celType,
  BOOL,
} from '../value/cel-type.ts';
import {
  type CelResult,
  type CelValue,
  CelFailure,
  celTypeName,
  CelOptional,
  OPTIONAL_NONE,
  lift,
} from '../value/cel-value.ts';
import type { CelOverload } from '../value/overload.ts';
import { buildHas } from './build-access.ts';
import { type BuildNode, buildMixedList } from './build-literal.ts';
import { buildAnd, buildConditional, buildOr, combine } from './build-logic.ts';
import type { BuildScope, BuiltCel, CelFrame } from './build-scope.ts';

/** Operators, macros and functions. */
export function buildCall(node: CelCallNode, scope: BuildScope, build: BuildNode): BuiltCel {
  if (node.name === '_&&_') return buildAnd(node, scope, build);
  if (node.name === '_||_') return buildOr(node, scope, build);
  if (node.name === '_?_:_') return buildConditional(node, scope, build);
  const [first] = node.args;
  if (node.name === 'has' && node.receiver === undefined && node.args.length === 1 && first !== undefined)
    return buildHas(first, scope, build);
  if (isComprehension(node)) return buildComprehension(node, scope, build);
  if (isOptionalMacro(node)) return buildOptionalMacro(node, scope, build);
  return buildFunction(node, scope, build);
}

function buildFunction(node: CelCallNode, scope: BuildScope, build: BuildNode): BuiltCel {
  const target = resolveTarget(node, scope);
  const args = target.args.map((arg) =>
    target.name === 'format' && arg.kind === 'list' ? buildMixedList(arg, scope, build) : build(arg, scope),
  );
  const types = args.map((arg) => arg.type);
  const found = matchOverloads(target.overloads, types);
  if (found.length === 0) {
    const applied = formatArguments(types, target.isMember);
    return scope.fail(node, `found no matching overload for '${target.name}' applied to '${applied}'`);
  }
  return {
    type: resultType(found),
    run: runCall(
      args.map((arg) => arg.run),
      found.map((match) => match.overload),
      types,
      target.name,
    ),
  };
}

function formatArguments(types: readonly CelType[], isMember: boolean): string {
  const [receiver, ...rest] = types.map(formatType);
  return isMember ? `${receiver ?? ''}.(${rest.join(', ')})` : `(${types.map(formatType).join(', ')})`;
}

interface Target {
  readonly name: string;
  readonly isMember: boolean;
  readonly overloads: readonly CelOverload[];
  readonly args: CelCallNode['args'];
}

/** `strings.quote(x)` is a function with a dot in its name unless `strings` is a variable. */
function resolveTarget(node: CelCallNode, scope: BuildScope): Target {
  const { receiver, name } = node;
  if (receiver?.kind === 'ident' && scope.find(receiver.name) === undefined) {
    const qualified = `${receiver.name}.${name}`;
    const overloads = scope.environment.overloads(qualified, false);
    if (overloads !== undefined) return { name: qualified, isMember: false, overloads, args: node.args };
  }
  const isMember = receiver !== undefined;
  const overloads = scope.environment.overloads(name, isMember);
  if (overloads === undefined) return scope.fail(node, `undeclared reference to '${name}' (in container '')`);
  return { name, isMember, overloads, args: isMember ? [receiver, ...node.args] : node.args };
}

interface Match {
  readonly overload: CelOverload;
  readonly bindings: TypeBindings;
}

function matchOverloads(overloads: readonly CelOverload[], types: readonly CelType[]): Match[] {
  const matches: Match[] = [];
  for (const overload of overloads) {
    if (overload.params.length !== types.length) continue;
    const bindings: TypeBindings = new Map();
    if (overload.params.every((param, i) => unify(param, types[i] ?? DYN, bindings)))
      matches.push({ overload, bindings });
  }
  return matches;
}

function resultType(matches: readonly Match[]): CelType {
  const results = matches.map(({ overload, bindings }) => substitute(overload.result, bindings));
  const [first = DYN, ...others] = results;
  return others.every((other) => sameType(first, other)) ? first : DYN;
}

type Run = (frame: CelFrame) => CelResult;

function runCall(
  runs: readonly Run[],
  overloads: readonly CelOverload[],
  types: readonly CelType[],
  name: string,
): Run {
  const only = overloads.length === 1 ? overloads[0] : undefined;
  const certain = only?.params.every(
    (param, i) => types[i]?.name !== 'dyn' || isTypeParameter(param) || param.name === 'dyn',
  );
  return (frame) => {
    const args: CelValue[] = [];
    for (const run of runs) {
      const value = run(frame);
      if (value instanceof CelFailure) return value;
      args.push(value);
    }
    const chosen =
      certain === true
        ? only
        : overloads.find(({ params }) => params.every((param, i) => valueHasType(args[i] ?? null, param)));
    if (chosen === undefined) return noOverload(name, args);
    const result = (chosen.call as (...values: CelValue[]) => CelResult)(...args);
    frame.cost += chosen.cost === undefined ? 1 : chosen.cost(args, result);
    return frame.cost > frame.limit ? COST_EXCEEDED : result;
  };
}

function noOverload(name: string, args: readonly CelValue[]): CelFailure {
  return new CelFailure(`no such overload: ${name}(${args.map(celTypeName).join(', ')})`);
}

type Loop = (frame: CelFrame, items: readonly unknown[]) => CelResult;

function isComprehension(node: CelCallNode): boolean {
  if (node.receiver === undefined) return false;
  if (node.name === 'map') return node.args.length === 2 || node.args.length === 3;
  return node.args.length === 2 && ['all', 'exists', 'exists_one', 'existsOne', 'filter'].includes(node.name);
}

function buildComprehension(node: CelCallNode, scope: BuildScope, build: BuildNode): BuiltCel {
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

/**
 * The macros that walk a list, or the keys of a map: all, exists, exists_one, map, filter.
 *
 * Each has its own loop instead of cel-go's general fold, but costs what that fold costs: the numbers below are the
 * hidden accumulator reads, condition checks and list concatenations of the expansion.
 */
const ALL_STEP_COST = 3;
const EXISTS_STEP_COST = 4;

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

const READ_RESULT_COST = 1;

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

const APPEND_COST = 12;

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

/** The functions of optionals whose argument is only evaluated when it is needed: or, orValue, optMap, optFlatMap. */
function isOptionalMacro(node: CelCallNode): boolean {
  if (node.receiver === undefined) return false;
  if (node.name === 'or' || node.name === 'orValue') return node.args.length === 1;
  return (node.name === 'optMap' || node.name === 'optFlatMap') && node.args.length === 2;
}

function buildOptionalMacro(node: CelCallNode, scope: BuildScope, build: BuildNode): BuiltCel {
  const { receiver } = node;
  if (receiver === undefined) return scope.fail(node, 'optional expected');
  const from = build(receiver, scope);
  if (from.type.name !== 'optional' && from.type.name !== 'dyn')
    return scope.fail(
      node,
      `found no matching overload for '${node.name}' applied to '${formatType(from.type)}'`,
    );
  return node.name.startsWith('opt')
    ? buildOptionalMap(node, from, { scope, build })
    : buildAlternative(node, from, { scope, build });
}

interface Context {
  readonly scope: BuildScope;
  readonly build: BuildNode;
}

function buildAlternative(node: CelCallNode, from: BuiltCel, { scope, build }: Context): BuiltCel {
  const [argument] = node.args;
  if (argument === undefined) return scope.fail(node, 'one argument expected');
  const other = build(argument, scope);
  const wanted = node.name === 'or' ? from.type : (from.type.params[0] ?? DYN);
  if (!unify(wanted, other.type, new Map()))
    return scope.fail(
      node,
      `found no matching overload for '${node.name}' applied to '${formatType(from.type)}.(${formatType(other.type)})'`,
    );
  return {
    type: other.type,
    run: (frame) => {
      const value = from.run(frame);
      if (value instanceof CelFailure) return value;
      if (!(value instanceof CelOptional)) return notOptional(node.name, value);
      frame.cost += 1;
      if (value.value === undefined) return other.run(frame);
      return node.name === 'or' ? value : value.value;
    },
  };
}

function buildOptionalMap(node: CelCallNode, from: BuiltCel, { scope, build }: Context): BuiltCel {
  const [variable, body] = node.args;
  if (variable?.kind !== 'ident' || body === undefined)
    return scope.fail(variable ?? node, `${node.name}() variable name must be a simple identifier`);
  const inner = scope.with(variable.name, from.type.params[0] ?? DYN);
  const mapped = build(body, inner.scope);
  const flat = node.name === 'optFlatMap';
  return {
    type: flat ? mapped.type : celType('optional', mapped.type),
    run: (frame) => {
      const value = from.run(frame);
      if (value instanceof CelFailure) return value;
      if (!(value instanceof CelOptional)) return notOptional(node.name, value);
      frame.cost += 1;
      if (value.value === undefined) return OPTIONAL_NONE;
      frame.slots[inner.slot] = value.value;
      const result = mapped.run(frame);
      if (result instanceof CelFailure) return result;
      if (!flat) return new CelOptional(result);
      return result instanceof CelOptional ? result : notOptional(node.name, result);
    },
  };
}

function notOptional(name: string, value: Parameters<typeof celTypeName>[0]): CelFailure {
  return new CelFailure(`no such overload: ${name} on ${celTypeName(value)}`);
}
