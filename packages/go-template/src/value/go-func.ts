import type { GoType } from './go-type.ts';

/** A Go function that templates may call. */
export interface GoFunc {
  readonly params: readonly GoType[];
  /** The type of each argument after `params`, for a function with `...`. */
  readonly rest: GoType | undefined;
  readonly result: GoType;
  /** Receives the data of each parameter, and the data of `rest` as one list at the end. */
  readonly call: (...data: never[]) => unknown;
}

type Types<P extends readonly unknown[]> = { readonly [K in keyof P]: GoType<P[K]> };

/** A function with a fixed number of parameters. */
export function func<const P extends readonly unknown[], R>(
  params: Types<P>,
  result: GoType<R>,
  call: (...data: P) => R,
): GoFunc {
  return { params, rest: undefined, result, call: call };
}

/** A function whose last parameter takes any number of arguments. */
export function variadic<const P extends readonly unknown[], V, R>(
  params: Types<P>,
  rest: GoType<V>,
  [result, call]: readonly [GoType<R>, (...data: [...P, readonly V[]]) => R],
): GoFunc {
  return { params, rest, result, call: call };
}

/** The functions that a template may call, by name. */
export type FuncMap = ReadonlyMap<string, GoFunc>;
