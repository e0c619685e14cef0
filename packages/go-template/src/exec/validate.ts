import type { GoType, Value } from '../value/go-type.ts';
import { REFLECT } from '../value/go-type.ts';
import { canBeNil, zeroOf } from '../value/zero.ts';
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
