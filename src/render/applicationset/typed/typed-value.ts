import type { RawJson } from '../json/raw-json.ts';

/**
 * A value of a `GoType`: what is absent is Go's zero value or nil. Only pointers, maps and lists tell absent from empty. Numbers of Go are
 * numbers or texts (`intOrString`), times are texts, JSON that is kept as text is `RawJson`.
 */
export type TypedValue = string | boolean | number | RawJson | readonly TypedValue[] | TypedObject;

export interface TypedObject {
  readonly [field: string]: TypedValue | undefined;
}

export function isTypedObject(value: TypedValue | undefined): value is TypedObject {
  return typeof value === 'object' && !Array.isArray(value) && value.constructor === Object;
}
