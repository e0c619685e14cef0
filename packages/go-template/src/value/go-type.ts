const MIN_INT64 = -(1n << 63n);

/** The kinds of Go types that templates use. `name` of a type is its name in reflect. */
export type Kind =
  | 'bool'
  | 'int'
  | 'int32'
  | 'int64'
  | 'uint8'
  | 'uint32'
  | 'uint64'
  | 'float64'
  | 'complex128'
  | 'string'
  | 'interface'
  | 'slice'
  | 'map'
  | 'struct'
  | 'ptr'
  | 'func';

/** A type. `D` is the JavaScript type of its data. */
export interface GoType<out D = unknown> {
  readonly kind: Kind;
  readonly name: string;
  /** The element type of slices and maps. The keys of all maps are strings. */
  readonly elem?: GoType;
  /** Never set. It lets the compiler check `D`. */
  readonly held?: D;
  /** The method String, for types that have it. fmt prints its result. */
  readonly text?: (data: never) => string;
  /** The text that JSON holds, for types that have the method MarshalJSON. */
  readonly json?: (data: never) => string;
  /** The JSON of a value that is stored as JSON. */
  readonly rawJson?: (data: never) => string;
  /** The methods that a template may call, by name. */
  readonly methods?: ReadonlyMap<string, Method>;
  /** Fields that a template cannot read. */
  readonly hidden?: ReadonlySet<string>;
}

/** A method: its parameters, its result, and its effect on the value. */
export interface Method {
  readonly params: readonly GoType[];
  readonly result: GoType;
  readonly call: (self: never, ...data: never[]) => unknown;
}

/**
 * A value with its type (reflect.Value). A value of type `interface {}` holds a value of another
 * type, or null.
 */
export interface Value<out D = unknown> {
  readonly type: GoType;
  readonly data: D;
}

/** The content of a Go `interface {}`: a value whose type is not an interface, or nil. */
export type Any = Value | null;

export interface Complex {
  readonly re: number;
  readonly im: number;
}

function basic<D>(kind: Kind, name: string = kind): GoType<D> {
  return { kind, name };
}

export const BOOL = basic<boolean>('bool');
export const INT = basic<bigint>('int');
export const INT32 = basic<bigint>('int32');
export const INT64 = basic<bigint>('int64');
export const UINT8 = basic<bigint>('uint8');
export const UINT32 = basic<bigint>('uint32');
export const UINT64 = basic<bigint>('uint64');
export const FLOAT64 = basic<number>('float64');
export const COMPLEX128 = basic<Complex>('complex128');
export const STRING = basic<string>('string');
export const INTERFACE = basic<Any>('interface', 'interface {}');
/**
 * reflect.Value as the type of a parameter or a result. It passes any value unchanged; undefined is
 * no value.
 */
export const REFLECT = basic<Value | undefined>('struct', 'reflect.Value');

export function sliceOf<D>(elem: GoType<D>, name = `[]${elem.name}`): GoType<readonly D[] | null> {
  return { kind: 'slice', name, elem };
}

export const LIST = sliceOf(INTERFACE);
export const STRINGS = sliceOf(STRING);
export const INTS = sliceOf(INT);
export const LISTS = sliceOf(LIST);

const INTEGERS: ReadonlySet<Kind> = new Set(['int', 'int32', 'int64']);
const UNSIGNED: ReadonlySet<Kind> = new Set(['uint8', 'uint32', 'uint64']);

export function isInteger(value: Value): value is Value<bigint> {
  return INTEGERS.has(value.type.kind);
}

export function isUnsigned(value: Value): value is Value<bigint> {
  return UNSIGNED.has(value.type.kind);
}

export function valueOf<D>(type: GoType<D>, data: D): Value<D> {
  return { type, data };
}

export function isString(value: Any | undefined): value is Value<string> {
  return value?.type.kind === 'string';
}

/**
 * The value in an interface, as `v.Interface()` returns it. A function with an `interface {}`
 * parameter gets this.
 */
export function toAny(value: Value | undefined): Any {
  if (value === undefined) return null;
  return value.type === INTERFACE ? (value.data as Any) : value;
}

/** Go's integers wrap around at 64 bits. */
export function wrap64(value: bigint): bigint {
  return BigInt.asIntN(64, value);
}

/**
 * A float64 as an int64, converted as on amd64. A number that does not fit becomes the smallest
 * int64.
 */
export function floatToInt64(value: number): bigint {
  if (!Number.isFinite(value)) return MIN_INT64;
  const whole = BigInt(Math.trunc(value));
  return BigInt.asIntN(64, whole) === whole ? whole : MIN_INT64;
}
