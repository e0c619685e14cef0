import { GenerateError } from '../failure/failures.ts';
import type { Params } from '../params/params.ts';
import { decodeTyped } from '../typed/decode-typed.ts';
import { RawJson } from '../json/go-json-text.ts';
import type { TypedObject } from '../types/go-type.ts';
import { NESTED_MATRIX, NESTED_MERGE } from '../types/generator-types.ts';

/**
 * Generates the parameters of a child of a matrix or merge generator. The child is rendered with
 * `params` if they are given.
 */
export type GenerateChild = (child: TypedObject, params?: Params) => Params[];

/**
 * Converts a child to a generator. A nested matrix or merge, which Argo CD keeps as JSON, is
 * decoded. It may not contain a third level.
 * @throws GenerateError
 */
export function asGenerator(child: TypedObject): TypedObject {
  const { matrix, merge, ...rest } = child;
  return {
    ...rest,
    ...(matrix instanceof RawJson ? { matrix: decodeNested(NESTED_MATRIX, matrix) } : {}),
    ...(merge instanceof RawJson
      ? { merge: decodeNested(NESTED_MERGE, merge, 'error converting to nested merge generator: ') }
      : {}),
  };
}

function decodeNested(type: typeof NESTED_MATRIX, { value }: RawJson, prefix = ''): TypedObject {
  const decoded = decodeTyped(type, value);
  if (decoded.error !== undefined) throw new GenerateError(`${prefix}${decoded.error}`);
  return decoded.value;
}
