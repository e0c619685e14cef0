import { GoError } from '../value/go-error.ts';
import type { GoMap } from '../value/go-map.ts';
import type { Value } from '../value/go-type.ts';
import { isInteger, isUnsigned, UINT8 } from '../value/go-type.ts';
import { unwrap } from './truth.ts';
import { zeroOf } from './validate.ts';

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
