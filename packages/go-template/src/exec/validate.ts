import { type GoType, type Value, REFLECT } from '../value/go-type.ts';
import type { Run } from './run.ts';

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
