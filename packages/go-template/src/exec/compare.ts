import { Printer } from '../fmt/printer.ts';
import { GoError } from '../value/go-error.ts';
import type { Complex, Value } from '../value/go-type.ts';
import { isInteger, isUnsigned } from '../value/go-type.ts';
import { unwrap } from '../value/indirect.ts';

/** eq, ne, lt, le, gt, ge (text/template/funcs.go). */
type Kind = 'bool' | 'complex' | 'int' | 'float' | 'string' | 'uint';

function basicKind(value: Value | undefined): Kind | undefined {
  if (value === undefined) return undefined;
  if (isInteger(value)) return 'int';
  if (isUnsigned(value)) return 'uint';
  switch (value.type.kind) {
    case 'bool':
    case 'string':
      return value.type.kind;
    case 'float64':
      return 'float';
    case 'complex128':
      return 'complex';
    default:
      return undefined;
  }
}

function isIntegerKind(kind: Kind | undefined): boolean {
  return kind === 'int' || kind === 'uint';
}

/** Whether the first value equals one of the others. */
export function equal(first: Value | undefined, others: readonly (Value | undefined)[]): boolean {
  if (others.length === 0) throw new GoError('missing argument for comparison');
  const left = unwrap(first);
  return others.some((other) => equalTwo(left, unwrap(other)));
}

function equalTwo(left: Value | undefined, right: Value | undefined): boolean {
  const [leftKind, rightKind] = [basicKind(left), basicKind(right)];
  if (leftKind !== rightKind) {
    if (isIntegerKind(leftKind) && isIntegerKind(rightKind)) return left?.data === right?.data;
    if (left !== undefined && right !== undefined)
      throw new GoError(`incompatible types for comparison: ${left.type.name} and ${right.type.name}`);
    return false;
  }
  if (leftKind === undefined) return equalOthers(left, right);
  if (leftKind !== 'complex') return left?.data === right?.data;
  const [a, b] = [left?.data as Complex, right?.data as Complex];
  return a.re === b.re && a.im === b.im;
}

/**
 * Compares values that are not numbers, strings or booleans. They compare with nil, and some
 * compare with each other.
 */
function equalOthers(left: Value | undefined, right: Value | undefined): boolean {
  if (left !== undefined && right !== undefined && left.type.kind !== right.type.kind)
    throw new GoError(
      `non-comparable types ${printValue(left, 's')}: ${left.type.name}, ${right.type.name}: ${printValue(right, 'v')}`,
    );
  const [noLeft, noRight] = [
    left === undefined || left.data === null,
    right === undefined || right.data === null,
  ];
  if (noLeft || noRight) return noLeft === noRight;
  if (right?.type.kind === 'map' || right?.type.kind === 'slice')
    throw new GoError(`non-comparable type ${printValue(right, 's')}: ${right.type.name}`);
  return left?.data === right?.data;
}

function printValue(value: Value, verb: string): string {
  const printer = new Printer();
  printer.printArg(value, verb);
  return printer.text;
}

const BAD_TYPE = 'invalid type for comparison';

export function less(first: Value | undefined, second: Value | undefined): boolean {
  const [left, right] = [unwrap(first), unwrap(second)];
  const [leftKind, rightKind] = [basicKind(left), basicKind(right)];
  if (left === undefined || right === undefined || leftKind === undefined || rightKind === undefined)
    throw new GoError(BAD_TYPE);
  if (leftKind !== rightKind && !(isIntegerKind(leftKind) && isIntegerKind(rightKind)))
    throw new GoError(`incompatible types for comparison: ${left.type.name} and ${right.type.name}`);
  if (leftKind === 'bool' || leftKind === 'complex') throw new GoError(BAD_TYPE);
  return (left.data as string | number | bigint) < (right.data as string | number | bigint);
}

export function lessOrEqual(left: Value | undefined, right: Value | undefined): boolean {
  return less(left, right) || equal(left, [right]);
}
