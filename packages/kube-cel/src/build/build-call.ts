import { buildHas } from './build-access.ts';
import { buildAnd, buildConditional, buildOr } from './build-logic.ts';
import type { BuildNode } from './build-literal.ts';
import { buildMixedList } from './build-literal.ts';
import { buildComprehension, isComprehension } from './build-comprehension.ts';
import { buildOptionalMacro, isOptionalMacro } from './build-optional-macro.ts';
import type { BuildScope, BuiltCel, CelFrame } from './build-scope.ts';
import { COST_EXCEEDED } from '../value/cel-cost.ts';
import type { CelCallNode } from '../syntax/cel-node.ts';
import type { CelType, TypeBindings } from '../value/cel-type.ts';
import {
  DYN,
  formatType,
  isTypeParameter,
  sameType,
  substitute,
  unify,
  valueHasType,
} from '../value/cel-type.ts';
import type { CelResult, CelValue } from '../value/cel-value.ts';
import { CelFailure, celTypeName } from '../value/cel-value.ts';
import type { CelOverload } from '../value/overload.ts';

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
