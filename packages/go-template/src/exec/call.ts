import type { Node, Operand } from '../parse/node.ts';
import { nodeText } from '../parse/node-text.ts';
import { GoError, Refusal } from '../value/go-error.ts';
import type { GoFunc } from '../value/go-func.ts';
import type { GoType, Value } from '../value/go-type.ts';
import { REFLECT, toAny } from '../value/go-type.ts';
import { spend } from '../value/work.ts';
import { callValue } from './collections.ts';
import type { Final, Place } from './place.ts';
import { NO_COMMAND } from './place.ts';
import type { Run } from './run.ts';
import { isTrue } from './truth.ts';
import { validate } from './validate.ts';

/** Evaluates an argument for a parameter. */
export type EvaluateArg = (place: Place, type: GoType | undefined, arg: Operand) => Value | undefined;

export interface Callee {
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
export function callFunction(
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
