import {
  type ChainNode,
  type CommandNode,
  type FieldNode,
  type IdentifierNode,
  type Node,
  nodeText,
  type NumberNode,
  type Operand,
  type PipeNode,
  type VariableNode,
} from '../parse/node.ts';
import { quote } from '../text/quote.ts';
import { GoError, Refusal } from '../value/go-error.ts';
import type { GoFunc } from '../value/go-func.ts';
import type { GoMap } from '../value/go-map.ts';
import {
  type GoType,
  type Value,
  REFLECT,
  BOOL,
  COMPLEX128,
  FLOAT64,
  INT,
  STRING,
  toAny,
} from '../value/go-type.ts';
import { spend } from '../value/work.ts';
import { callValue, canBeNil, isTrue, unwrap, validate, zeroOf } from './collections.ts';
import type { Run } from './run.ts';

/**
 * The value that a command gets from the previous command in the pipeline (undefined: no value), or
 * the mark that there is no previous command.
 */
const NO_COMMAND: unique symbol = Symbol('no command before');
type Final = Value | undefined | typeof NO_COMMAND;

/** Where an expression is evaluated. */
interface Place {
  readonly run: Run;
  readonly dot: Value | undefined;
}

export function evaluatePipe(place: Place, pipe: PipeNode): Value | undefined {
  const { run } = place;
  spend(1);
  run.at = pipe;
  let value: Final = NO_COMMAND;
  for (const command of pipe.cmds) value = unwrap(evaluateCommand(place, command, value));
  const result = value === NO_COMMAND ? undefined : value;
  for (const variable of pipe.decl) {
    const name = variable.ident[0] ?? '';
    if (!pipe.isAssign) run.scope.push(name, result);
    else if (!run.scope.assign(name, result)) run.fail(`undefined variable: ${name}`);
  }
  return result;
}

function evaluateCommand(place: Place, command: CommandNode, final: Final): Value | undefined {
  const [first] = command.args;
  if (first === undefined) return undefined;
  const { run, dot } = place;
  switch (first.kind) {
    case 'field':
      return evaluateField(place, first, [command.args, final]);
    case 'chain':
      return evaluateChain(place, first, [command.args, final]);
    case 'identifier':
      return evaluateFunction(place, first, [command, command.args, final]);
    case 'pipe':
      notAFunction(run, command.args, final);
      return evaluatePipe(place, first);
    case 'variable':
      return evaluateVariable(place, first, [command.args, final]);
    case 'dot':
      run.at = first;
      notAFunction(run, command.args, final);
      return dot;
    case 'nil':
      run.at = first;
      notAFunction(run, command.args, final);
      return run.fail('nil is not a command');
    default:
      run.at = first;
      notAFunction(run, command.args, final);
      return constant(run, first);
  }
}

function notAFunction(run: Run, args: readonly Operand[], final: Final): void {
  const [first] = args;
  if (first !== undefined && (args.length > 1 || final !== NO_COMMAND))
    run.fail(`can't give argument to non-function ${nodeText(first)}`);
}

/** The arguments of a command, the function or field itself first, and the value of the command before. */
type Given = readonly [args: readonly Operand[] | undefined, final: Final];

function evaluateField(place: Place, field: FieldNode, given: Given): Value | undefined {
  place.run.at = field;
  return fieldChain(place, place.dot, { node: field, names: field.ident, given });
}

function evaluateChain(place: Place, chain: ChainNode, given: Given): Value | undefined {
  place.run.at = chain;
  if (chain.node.kind === 'nil') place.run.fail(`indirection through explicit nil in ${nodeText(chain)}`);
  const receiver = evaluateArg(place, undefined, chain.node);
  return fieldChain(place, receiver, { node: chain, names: chain.fields, given });
}

function evaluateVariable(place: Place, variable: VariableNode, given: Given): Value | undefined {
  const { run } = place;
  run.at = variable;
  const [name = '', ...names] = variable.ident;
  const known = run.scope.find(name);
  if (known === undefined) return run.fail(`undefined variable: ${name}`);
  if (names.length > 0) return fieldChain(place, known.value, { node: variable, names, given });
  const [args, final] = given;
  notAFunction(run, args ?? [], final);
  return known.value;
}

interface Chain {
  readonly node: Node;
  readonly names: readonly string[];
  readonly given: Given;
}

function fieldChain(
  place: Place,
  receiver: Value | undefined,
  { node, names, given }: Chain,
): Value | undefined {
  const last = names.length - 1;
  return names.reduce(
    (value, name, index) =>
      oneField(place, value, { node, name, given: index === last ? given : [undefined, NO_COMMAND] }),
    receiver,
  );
}

interface Step {
  readonly node: Node;
  readonly name: string;
  readonly given: Given;
}

/** One `.Field` of a value: a method of it, or an entry of a map. */
function oneField(place: Place, receiver: Value | undefined, step: Step): Value | undefined {
  const { run } = place;
  const { name, given } = step;
  if (receiver === undefined) {
    if (run.program.missingKey === 'error') run.fail(`nil data; no entry for key ${quote(name)}`);
    return undefined;
  }
  const value = unwrap(receiver);
  if (value === undefined) return run.fail(`nil pointer evaluating ${receiver.type.name}.${name}`);
  const method = value.type.methods?.get(name);
  if (method !== undefined) {
    const call = (...data: never[]): unknown => method.call(value.data as never, ...data);
    const fun = { params: method.params, rest: undefined, result: method.result, call };
    return callFunction(place, { fun, isBuiltin: false, node: step.node, name }, given, evaluateArg);
  }
  const hasArgs = (given[0]?.length ?? 0) > 1 || given[1] !== NO_COMMAND;
  if (value.type.hidden?.has(name) === true)
    run.fail(`${name} is an unexported field of struct type ${receiver.type.name}`);
  if (value.type.kind !== 'map')
    return run.fail(`can't evaluate field ${name} in type ${receiver.type.name}`);
  if (hasArgs) run.fail(`${name} is not a method but has arguments`);
  return mapEntry(run, value as Value<GoMap | null>, name);
}

function mapEntry(run: Run, map: Value<GoMap | null>, name: string): Value | undefined {
  const type = map.type.elem ?? map.type;
  if (map.data?.has(name) === true) return { type, data: map.data.get(name) };
  if (run.program.missingKey === 'zero') return zeroOf(type);
  if (run.program.missingKey === 'error') run.fail(`map has no entry for key ${quote(name)}`);
  return undefined;
}

function evaluateFunction(
  place: Place,
  node: IdentifierNode,
  [command, args, final]: readonly [Node, readonly Operand[] | undefined, Final],
): Value | undefined {
  const { run } = place;
  const { name } = node;
  run.at = node;
  const own = run.program.own.get(name) ?? run.program.functions.get(name);
  const fun = own ?? run.program.builtins.get(name);
  if (fun === undefined) return run.fail(`${quote(name)} is not a defined function`);
  return callFunction(
    place,
    { fun, isBuiltin: own === undefined, node: command, name },
    [args, final],
    evaluateArg,
  );
}

/** Evaluates an argument for a parameter (evalArg). */
function evaluateArg(place: Place, type: GoType | undefined, arg: Operand): Value | undefined {
  const { run } = place;
  run.at = arg;
  switch (arg.kind) {
    case 'dot':
      return validate(run, place.dot, type);
    case 'nil':
      if (type === REFLECT) return undefined;
      if (type !== undefined && canBeNil(type)) return zeroOf(type);
      return run.fail(`cannot assign nil to ${type?.name ?? 'nothing'}`);
    case 'field':
      return validate(run, evaluateField(place, arg, [[arg], NO_COMMAND]), type);
    case 'variable':
      return validate(run, evaluateVariable(place, arg, [undefined, NO_COMMAND]), type);
    case 'pipe':
      return validate(run, evaluatePipe(place, arg), type);
    case 'identifier':
      return validate(run, evaluateFunction(place, arg, [arg, undefined, NO_COMMAND]), type);
    case 'chain':
      return validate(run, evaluateChain(place, arg, [undefined, NO_COMMAND]), type);
    default:
      return literal(run, type, arg);
  }
}

/** The value of a literal. */
function constant(run: Run, node: Operand): Value | undefined {
  if (node.kind === 'bool') return { type: BOOL, data: node.value };
  if (node.kind === 'string') return { type: STRING, data: node.text };
  if (node.kind === 'number') return idealConstant(run, node);
  return run.fail(`can't evaluate command ${quote(nodeText(node))}`);
}

/** The value of a number. The notation determines its type. */
function idealConstant(run: Run, node: NumberNode): Value | undefined {
  run.at = node;
  if (node.complex !== undefined) return { type: COMPLEX128, data: node.complex };
  const { text } = node;
  const isHexInt = /^0[xX]./.test(text) && !/[pP]/.test(text);
  if (node.float !== undefined && !isHexInt && !text.startsWith("'") && /[.eEpP]/.test(text))
    return { type: FLOAT64, data: node.float };
  if (node.int !== undefined) return { type: INT, data: node.int };
  if (node.uint !== undefined) run.fail(`${text} overflows int`);
  return undefined;
}

/** A literal as an argument. It gets the type of the parameter. */
function literal(run: Run, type: GoType | undefined, arg: Operand): Value | undefined {
  const text = nodeText(arg);
  if (type === undefined) return constant(run, arg);
  switch (type.kind) {
    case 'bool':
      return arg.kind === 'bool' ? { type, data: arg.value } : run.fail(`expected bool; found ${text}`);
    case 'string':
      return arg.kind === 'string' ? { type, data: arg.text } : run.fail(`expected string; found ${text}`);
    case 'interface':
      return constant(run, arg);
    case 'struct':
      return type === REFLECT
        ? constant(run, arg)
        : run.fail(`can't handle ${text} for arg of type ${type.name}`);
    case 'slice':
    case 'map':
    case 'ptr':
    case 'func':
      return run.fail(`can't handle ${text} for arg of type ${type.name}`);
    default:
      return number(run, type, arg);
  }
}

const NUMBERS: Readonly<Record<string, readonly [words: string, of: (node: NumberNode) => unknown]>> = {
  float64: ['float', (node) => node.float],
  complex128: ['complex', (node) => node.complex],
  uint8: ['unsigned integer', (node) => node.uint],
  uint32: [
    'unsigned integer',
    (node) => (node.uint === undefined ? undefined : BigInt.asUintN(32, node.uint)),
  ],
  uint64: ['unsigned integer', (node) => node.uint],
  int32: ['integer', (node) => (node.int === undefined ? undefined : BigInt.asIntN(32, node.int))],
};

function number(run: Run, type: GoType, arg: Operand): Value {
  const [words, of] = NUMBERS[type.kind] ?? ['integer', (node: NumberNode): unknown => node.int];
  const data = arg.kind === 'number' ? of(arg) : undefined;
  return data === undefined ? run.fail(`expected ${words}; found ${nodeText(arg)}`) : { type, data };
}

/** Evaluates an argument for a parameter. */
type EvaluateArg = (place: Place, type: GoType | undefined, arg: Operand) => Value | undefined;

interface Callee {
  readonly fun: GoFunc;
  readonly isBuiltin: boolean;
  /** The node that errors refer to. */
  readonly node: Node;
  readonly name: string;
}

/**
 * Calls a function or a method (evalCall). `given[0]` starts with the function itself, or is
 * undefined.
 */
function callFunction(
  place: Place,
  callee: Callee,
  given: readonly [readonly Operand[] | undefined, Final],
  evaluate: EvaluateArg,
): Value | undefined {
  const { fun, isBuiltin, name } = callee;
  const [all, final] = given;
  const args = all?.slice(1) ?? [];
  checkCount(place.run, callee, [args.length, final !== NO_COMMAND]);
  if (isBuiltin && (name === 'and' || name === 'or'))
    return shortCircuit(name, [args, final], (arg) => evaluate(place, REFLECT, arg));
  const values = args.map((arg, index) => evaluate(place, fun.params[index] ?? fun.rest, arg));
  if (final !== NO_COMMAND)
    values.push(validate(place.run, final, fun.params[args.length] ?? fun.rest ?? fun.params.at(-1)));
  return perform(place.run, callee, () => {
    if (isBuiltin && name === 'call') return callValue(calleeName(args[0], values[0]), values[0]);
    return fun.call(...(dataOf(fun, values) as never[]));
  });
}

function checkCount(run: Run, { fun, name }: Callee, [count, piped]: readonly [number, boolean]): void {
  const all = count + (piped ? 1 : 0);
  const fixed = fun.params.length;
  if (fun.rest !== undefined) {
    if (all < fixed) run.fail(`wrong number of args for ${name}: want at least ${fixed} got ${count}`);
  } else if (all !== fixed) run.fail(`wrong number of args for ${name}: want ${fixed} got ${all}`);
}

/** `and` and `or` evaluate their arguments only until the result is known. */
function shortCircuit(
  name: 'and' | 'or',
  [args, final]: readonly [readonly Operand[], Final],
  evaluate: (arg: Operand) => Value | undefined,
): Value | undefined {
  let value: Value | undefined;
  for (const arg of args) {
    value = evaluate(arg);
    if (isTrue(value) === (name === 'or')) return value;
  }
  return final === NO_COMMAND ? value : final;
}

function calleeName(arg: Operand | undefined, value: Value | undefined): string {
  if (arg !== undefined) return nodeText(arg);
  if (value === undefined) return '<invalid Value>';
  return value.type.kind === 'string' ? (value.data as string) : `<${value.type.name} Value>`;
}

/** The arguments for the function: the data of each value, with the data of `rest` as one list. */
function dataOf(fun: GoFunc, values: readonly (Value | undefined)[]): unknown[] {
  const data: unknown[] = [];
  const rest: unknown[] = [];
  const fixed = fun.params.length;
  for (let index = 0; index < values.length; index++) {
    const part = dataFor(fun.params[index] ?? fun.rest, values[index]);
    if (typeof part === 'string') spend(part.length >> 1);
    (index < fixed ? data : rest).push(part);
  }
  if (fun.rest !== undefined) data.push(rest);
  return data;
}

function dataFor(type: GoType | undefined, value: Value | undefined): unknown {
  if (type === REFLECT) return value;
  return type?.kind === 'interface' ? toAny(value) : value?.data;
}

function perform(run: Run, { fun, node, name }: Callee, call: () => unknown): Value | undefined {
  spend(1);
  let data: unknown;
  try {
    data = call();
  } catch (error) {
    if (!(error instanceof GoError) && !(error instanceof RangeError)) throw error;
    run.at = node;
    const calling = `error calling ${name}: `;
    if (error instanceof RangeError)
      run.refuse(`${calling}too large or too deep for Berth: ${error.message}`);
    if (error instanceof Refusal) run.refuse(`${calling}${error.message}`);
    run.fail(`${calling}${error.message}`);
  }
  return fun.result === REFLECT ? (data as Value | undefined) : { type: fun.result, data };
}
