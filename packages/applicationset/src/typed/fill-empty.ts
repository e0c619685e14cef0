import type { GoStruct, GoType, TypedObject, TypedValue } from '../types/go-type.ts';
import { isEmpty } from './encode-typed.ts';
import { RawJson } from '../json/go-json-text.ts';
import { setKey } from '../json/json-value.ts';

/**
 * Fills empty fields in the template of a generator from the template of the ApplicationSet, as
 * mergo does: maps by key, structs by field, lists completely. `false` and `0` count as empty even
 * if the user wrote them. Source: dario.cat/mergo v1.0.2, merge.go.
 */
export function fillEmpty(type: GoStruct, own: TypedObject, base: TypedObject): TypedObject {
  const filled: Record<string, TypedValue> = {};
  for (const { name, type: fieldType } of type.fields) {
    const value = fillValue(fieldType, own[name], base[name]);
    if (value !== undefined) filled[name] = value;
  }
  return filled;
}

function fillValue(
  type: GoType,
  own: TypedValue | undefined,
  base: TypedValue | undefined,
): TypedValue | undefined {
  if (base === undefined) return own;
  switch (type.kind) {
    case 'struct':
      return fillEmpty(type, (own ?? {}) as TypedObject, base as TypedObject);
    case 'pointer':
      return own === undefined ? base : fillValue(type.to, own, base);
    case 'map':
      return fillMap((own ?? {}) as TypedObject, base as TypedObject);
    case 'raw':
      return own instanceof RawJson ? own : base;
    default:
      return isEmpty(own) ? base : own;
  }
}

function fillMap(own: TypedObject, base: TypedObject): TypedObject {
  const filled: Record<string, TypedValue> = {};
  for (const [key, value] of Object.entries(own)) setKey(filled, key, value as TypedValue);
  for (const [key, value] of Object.entries(base))
    if (!Object.hasOwn(filled, key) || isEmpty(filled[key])) setKey(filled, key, value as TypedValue);
  return filled;
}
