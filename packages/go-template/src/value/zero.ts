import type { GoType, Value } from './go-type.ts';

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
