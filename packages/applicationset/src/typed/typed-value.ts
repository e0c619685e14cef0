import type { RawJson } from '../json/raw-json.ts';

/**
 * A value of a `GoType`. An absent value is the zero value of Go or nil. Only pointers, maps and
 * lists distinguish absent from empty. Numbers are numbers or texts (`intOrString`), times are
 * texts, and JSON that Argo CD keeps as text is `RawJson`.
 */
export type TypedValue = string | boolean | number | RawJson | readonly TypedValue[] | TypedObject;

export interface TypedObject {
  readonly [field: string]: TypedValue | undefined;
}

export function isTypedObject(value: TypedValue | undefined): value is TypedObject {
  return typeof value === 'object' && !Array.isArray(value) && value.constructor === Object;
}
