import type {
  ChainNode,
  CommandNode,
  FieldNode,
  IdentifierNode,
  Node,
  Operand,
  PipeNode,
  VariableNode,
} from '../parse/node.ts';
import { nodeText } from '../parse/node-text.ts';
import { quote } from '../text/quote.ts';
import type { GoMap } from '../value/go-map.ts';
import type { GoType, Value } from '../value/go-type.ts';
import { REFLECT } from '../value/go-type.ts';
import { unwrap } from '../value/indirect.ts';
import { spend } from '../value/work.ts';
import { canBeNil, zeroOf } from '../value/zero.ts';
import { callFunction } from './call.ts';
import { constant, literal } from './literal.ts';
import type { Final, Place } from './place.ts';
import { NO_COMMAND } from './place.ts';
import type { Run } from './run.ts';
import { validate } from './validate.ts';

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
