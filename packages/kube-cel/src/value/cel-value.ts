/**
 * Values of the Common Expression Language. JSON is used without copying: arrays are lists, plain
 * objects are maps with string keys. Only numbers are converted (`lift`), when they are read: whole
 * numbers become `bigint` (int), others `CelDouble`. Errors are values (`CelFailure`), because
 * `||`, `&&`, `all` and `exists` may ignore them.
 */
export type CelValue =
  | null
  | boolean
  | string
  | bigint
  | CelDouble
  | CelUint
  | Uint8Array
  | CelTimestamp
  | CelDuration
  | CelOptional
  | CelOpaque
  | CelTypeValue
  | CelMap
  | readonly unknown[]
  | CelJsonMap;

export interface CelJsonMap {
  readonly [key: string]: unknown;
}

/** `fatal`: the cost limit is exceeded; no operator may ignore this error. */
export class CelFailure {
  readonly message: string;
  readonly fatal: boolean;

  constructor(message: string, fatal = false) {
    this.message = message;
    this.fatal = fatal;
  }
}

export type CelResult = CelValue | CelFailure;

export class CelDouble {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export class CelUint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** Nanoseconds since the epoch. */
export class CelTimestamp {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class CelDuration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class CelOptional {
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

export const OPTIONAL_NONE = new CelOptional(undefined);

/** The result of `type(x)`. */
export class CelTypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value of one of the Kubernetes libraries: Quantity, URL, IP, CIDR, Semver, NamedFormat. */
export abstract class CelOpaque {
  abstract readonly typeName: string;
  abstract equals(other: CelOpaque): boolean;
}

export type CelMapKey = string | bigint | boolean;

/** A map made by an expression; unlike a JSON object its keys may be ints and bools. */
export class CelMap {
  readonly entries: ReadonlyMap<CelMapKey, CelValue>;

  constructor(entries: ReadonlyMap<CelMapKey, CelValue>) {
    this.entries = entries;
  }
}

export const MAX_INT = 9223372036854775807n;
export const MIN_INT = -9223372036854775808n;
export const MAX_UINT = 18446744073709551615n;

/** Converts a JSON value, or an element of a list, to a CEL value; see the top of this file. */
export function lift(raw: unknown): CelValue {
  if (typeof raw === 'number') return liftNumber(raw);
  return raw === undefined ? null : (raw as CelValue);
}

function liftNumber(raw: number): CelValue {
  return Number.isInteger(raw) && Math.abs(raw) < 2 ** 63 ? BigInt(raw) : new CelDouble(raw);
}

export function isJsonMap(value: CelValue): value is CelJsonMap {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Name of the value's type as `type(x)` and error texts print it. */
export function celTypeName(value: CelValue): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'bigint':
      return 'int';
    default:
      return objectTypeName(value);
  }
}

function objectTypeName(value: Exclude<CelValue, string | boolean | bigint>): string {
  if (value === null) return 'null_type';
  if (Array.isArray(value)) return 'list';
  if (value instanceof CelDouble) return 'double';
  if (value instanceof CelUint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof CelTimestamp) return 'google.protobuf.Timestamp';
  if (value instanceof CelDuration) return 'google.protobuf.Duration';
  if (value instanceof CelOptional) return 'optional_type';
  if (value instanceof CelTypeValue) return 'type';
  if (value instanceof CelOpaque) return value.typeName;
  return 'map';
}
