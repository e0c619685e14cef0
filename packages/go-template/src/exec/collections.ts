import { GoError } from '../value/go-error.ts';
import type { GoMap } from '../value/go-map.ts';
import {
  type Any,
  type Complex,
  type GoType,
  isInteger,
  isUnsigned,
  REFLECT,
  UINT8,
  type Value,
} from '../value/go-type.ts';
import type { Run } from './run.ts';

/** The built-in functions index and len (text/template/funcs.go). sprig has its own slice. */

export function indexValue(
  item: Value | undefined,
  indexes: readonly (Value | undefined)[],
): Value | undefined {
  let found = unwrap(item);
  if (found === undefined) throw new GoError('index of untyped nil');
  for (const index of indexes) {
    const inside = unwrap(found);
    if (inside === undefined) throw new GoError('index of nil pointer');
    found = element(inside, unwrap(index));
  }
  return found;
}

function element(item: Value, index: Value | undefined): Value {
  switch (item.type.kind) {
    case 'slice': {
      const list = (item.data as readonly unknown[] | null) ?? [];
      const at = position(index, list.length);
      if (at === list.length) throw new GoError('reflect: slice index out of range');
      return { type: elemOf(item), data: list[at] };
    }
    case 'string': {
      const text = item.data as string;
      const at = position(index, text.length);
      if (at === text.length) throw new GoError('reflect: string index out of range');
      return { type: UINT8, data: BigInt(text.charCodeAt(at)) };
    }
    case 'map':
      return entry(item as Value<GoMap | null>, index);
    default:
      throw new GoError(`can't index item of type ${item.type.name}`);
  }
}

function elemOf({ type }: Value) {
  return type.elem ?? type;
}

function position(index: Value | undefined, length: number): number {
  if (index === undefined) throw new GoError('cannot index slice/array with nil');
  if (!isInteger(index) && !isUnsigned(index))
    throw new GoError(`cannot index slice/array with type ${index.type.name}`);
  if (index.data < 0n || index.data > BigInt(length)) throw new GoError(`index out of range: ${index.data}`);
  return Number(index.data);
}

function entry(map: Value<GoMap | null>, index: Value | undefined): Value {
  if (index === undefined) throw new GoError('value is nil; should be of type string');
  if (index.type.kind !== 'string') throw new GoError(`value has type ${index.type.name}; should be string`);
  const type = elemOf(map);
  const key = index.data as string;
  return map.data?.has(key) === true ? { type, data: map.data.get(key) } : zeroOf(type);
}

export function lengthOf(given: Value | undefined): bigint {
  if (given === undefined) throw new GoError('reflect: call of reflect.Value.Type on zero Value');
  const value = unwrap(given);
  if (value === undefined) throw new GoError('len of nil pointer');
  switch (value.type.kind) {
    case 'string':
      return BigInt((value.data as string).length);
    case 'slice':
      return BigInt((value.data as readonly unknown[] | null)?.length ?? 0);
    case 'map':
      return BigInt((value.data as GoMap | null)?.size ?? 0);
    default:
      throw new GoError(`len of type ${value.type.name}`);
  }
}

/** The built-in function call. It always fails, because no value of a template is a function. */
export function callValue(name: string, given: Value | undefined): never {
  const value = unwrap(given);
  if (value === undefined) throw new GoError('call of nil');
  throw new GoError(`non-function ${name} of type ${value.type.name}`);
}

/**
 * The truth of a value for `if`, `and`, `or` and `not`. False for no value, for zero, and for an
 * empty value.
 */
export function isTrue(given: Value | undefined): boolean {
  const value = unwrap(given);
  if (value === undefined) return false;
  if (isInteger(value) || isUnsigned(value)) return value.data !== 0n;
  switch (value.type.kind) {
    case 'bool':
      return value.data as boolean;
    case 'string':
      return value.data !== '';
    case 'float64':
      return value.data !== 0;
    case 'complex128': {
      const { re, im } = value.data as Complex;
      return re !== 0 || im !== 0;
    }
    case 'map':
      return ((value.data as GoMap | null)?.size ?? 0) > 0;
    case 'slice':
      return ((value.data as readonly unknown[] | null)?.length ?? 0) > 0;
    case 'struct':
      return true;
    default:
      return value.data !== null;
  }
}

/** The value in an interface; undefined for a nil interface (indirectInterface). */
export function unwrap(value: Value | undefined): Value | undefined {
  return value?.type.kind === 'interface' ? ((value as Value<Any>).data ?? undefined) : value;
}

function isAssignable(from: GoType, to: GoType): boolean {
  return from === to || to.kind === 'interface' || from.name === to.name;
}

/** Checks that a value fits a parameter (validateType). An undefined type accepts any value. */
export function validate(run: Run, value: Value | undefined, type: GoType | undefined): Value | undefined {
  if (type === undefined) return value;
  if (value === undefined) {
    if (type === REFLECT) return undefined;
    return canBeNil(type) ? zeroOf(type) : run.fail(`invalid value; expected ${type.name}`);
  }
  if (type === REFLECT || isAssignable(value.type, type)) return value;
  const inside = value.type.kind === 'interface' ? ((value.data as Value | null) ?? value) : value;
  if (isAssignable(inside.type, type)) return inside;
  return run.fail(`wrong type for value; expected ${type.name}; got ${inside.type.name}`);
}

/** The zero value of a type (reflect.Zero). */
export function zeroOf(type: GoType): Value {
  return { type, data: zeroData(type) };
}

function zeroData(type: GoType): unknown {
  switch (type.kind) {
    case 'bool':
      return false;
    case 'int':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint32':
    case 'uint64':
      return 0n;
    case 'float64':
      return 0;
    case 'string':
      return '';
    case 'complex128':
      return { re: 0, im: 0 };
    default:
      return null;
  }
}

/** Whether nil is a value of the type. */
export function canBeNil(type: GoType): boolean {
  return ['interface', 'map', 'ptr', 'slice', 'func'].includes(type.kind) || type.name === 'reflect.Value';
}
