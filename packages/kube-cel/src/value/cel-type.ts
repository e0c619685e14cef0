import { CelMap, CelOptional, celTypeName, type CelValue, isJsonMap } from './cel-value.ts';

/**
 * Static types. `dyn` means "known at run time only" and is compatible with everything; a one-letter name is a type
 * parameter of a function (`list<T>`).
 */
export interface CelType {
  readonly name: string;
  readonly params: readonly CelType[];
  /** All fields of an object type. */
  readonly fields?: ReadonlyMap<string, CelType>;
}

export const DYN: CelType = { name: 'dyn', params: [] };
export const BOOL: CelType = { name: 'bool', params: [] };
export const STRING: CelType = { name: 'string', params: [] };
export const INT: CelType = { name: 'int', params: [] };

export function celType(name: string, ...params: readonly CelType[]): CelType {
  return { name, params };
}

/** @param name unique among object types */
export function objectType(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  return { name, params: [], fields: new Map(Object.entries(fields)) };
}

export type TypeBindings = Map<string, CelType>;

export function isTypeParameter(type: CelType): boolean {
  return type.name.length === 1;
}

/** Whether a value of type `actual` is assignable to `wanted`; binds type parameters. */
export function unify(wanted: CelType, actual: CelType, bindings: TypeBindings): boolean {
  if (isTypeParameter(wanted)) {
    const bound = bindings.get(wanted.name);
    if (bound === undefined || bound.name === 'dyn') {
      bindings.set(wanted.name, actual);
      return true;
    }
    return unify(bound, actual, bindings);
  }
  if (wanted.name === 'dyn' || actual.name === 'dyn') return true;
  if (actual.name === 'null_type' && isNullable(wanted)) return true;
  if (wanted.name === 'null_type' && isNullable(actual)) return true;
  if (wanted.name !== actual.name || wanted.params.length !== actual.params.length) return false;
  return wanted.params.every((param, i) => unify(param, actual.params[i] ?? DYN, bindings));
}

const NULLABLE: ReadonlySet<string> = new Set(['timestamp', 'duration', 'optional']);

/**
 * Null is assignable to an object, an opaque value or a time. Source: cel-go `checker/types.go`,
 * isLegacyNullable.
 */
function isNullable(type: CelType): boolean {
  return NULLABLE.has(type.name) || type.fields !== undefined || type.name.includes('.');
}

/** Replaces bound type parameters; unbound ones become dyn. */
export function substitute(type: CelType, bindings: TypeBindings): CelType {
  if (isTypeParameter(type)) return bindings.get(type.name) ?? DYN;
  if (type.params.length === 0) return type;
  return { name: type.name, params: type.params.map((param) => substitute(param, bindings)) };
}

export function sameType(a: CelType, b: CelType): boolean {
  return a.name === b.name && a.params.every((param, i) => sameType(param, b.params[i] ?? DYN));
}

/** A type as cel-go prints it in problems. */
export function formatType(type: CelType): string {
  const name = PRINTED_NAMES[type.name] ?? type.name;
  return type.params.length === 0 ? name : `${name}(${type.params.map(formatType).join(', ')})`;
}

const PRINTED_NAMES: Readonly<Record<string, string>> = { null_type: 'null', optional: 'optional_type' };

const RUNTIME_NAMES: Readonly<Record<string, string>> = {
  null_type: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
  optional: 'optional_type',
};

/** A type as an API server names the result of an expression. Source: cel-go `common/types/types.go`, Type.String. */
export function declaredTypeText(type: CelType): string {
  const name = RUNTIME_NAMES[type.name] ?? type.name;
  return type.params.length === 0 ? name : `${name}(${type.params.map(declaredTypeText).join(', ')})`;
}

/** Whether a value has the declared type; elements of lists and maps are not checked. */
export function valueHasType(value: CelValue, type: CelType): boolean {
  switch (type.name) {
    case 'string':
      return typeof value === 'string';
    case 'int':
      return typeof value === 'bigint';
    case 'bool':
      return typeof value === 'boolean';
    case 'list':
      return Array.isArray(value);
    case 'map':
      return value instanceof CelMap || isJsonMap(value);
    case 'optional':
      return value instanceof CelOptional;
    default:
      if (type.name === 'dyn' || isTypeParameter(type)) return true;
      return celTypeName(value) === (RUNTIME_NAMES[type.name] ?? type.name);
  }
}
