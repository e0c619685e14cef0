import type { GoField, GoStruct, GoType, TypedObject, TypedValue } from '../types/go-type.ts';
import { type JsonValue, setKey } from '../json/json-value.ts';
import { RawJson } from '../json/go-json-text.ts';

export interface Decoded {
  readonly value: TypedObject;
  /**
   * The error text of Go for the first value of a wrong kind. Correct values are decoded anyway.
   */
  readonly error: string | undefined;
}

/**
 * Reads JSON into a Go struct as encoding/json does. Unknown fields are dropped, names match in any
 * letter case, and null leaves a field unchanged.
 */
export function decodeTyped(type: GoStruct, json: JsonValue): Decoded {
  const decoder = new Decoder();
  const value = decoder.struct(type, json, { struct: '', path: '' });
  return { value: value ?? {}, error: decoder.error };
}

/** The place of a value: the struct with its field, and the fields from the root. */
interface Place {
  readonly struct: string;
  readonly path: string;
}

class Decoder {
  error: string | undefined;

  decode(type: GoType, json: JsonValue, place: Place): TypedValue | undefined {
    if (type.kind === 'raw') return json === null ? undefined : new RawJson(json);
    if (json === null) return undefined;
    switch (type.kind) {
      case 'pointer':
        return this.#pointer(type.to, json, place);
      case 'struct':
        return this.struct(type, json, place);
      case 'list':
        return this.#list(type, json, place);
      case 'map':
        return this.#map(type, json, place);
      case 'any':
        return new RawJson(json);
      default:
        return this.#scalar(type, json, place);
    }
  }

  /** A pointer to a zero value is not nil. */
  #pointer(to: GoType, json: JsonValue, place: Place): TypedValue | undefined {
    const value = this.decode(to, json, place);
    if (value !== undefined || to.kind === 'raw') return value;
    return zeroOf(to);
  }

  struct(type: GoStruct, json: JsonValue, place: Place): TypedObject | undefined {
    if (json === null) return undefined;
    if (typeof json !== 'object' || Array.isArray(json)) return this.#refuse(type, json, place);
    const fields: Record<string, TypedValue> = {};
    for (const [key, given] of Object.entries(json)) {
      const field = fieldNamed(type, key);
      if (field === undefined) continue;
      const path = place.path === '' ? field.name : `${place.path}.${field.name}`;
      const value = this.decode(field.type, given, { struct: type.shortName, path });
      if (value !== undefined) setKey(fields, field.name, value);
      else if (given === null && isNilable(field.type)) delete fields[field.name];
    }
    return fields;
  }

  #list(type: GoType & { kind: 'list' }, json: JsonValue, place: Place): TypedValue | undefined {
    if (!Array.isArray(json)) return this.#refuse(type, json, place);
    return json.map((item: JsonValue) => this.decode(type.of, item, place) ?? zeroOf(type.of));
  }

  #map(type: GoType & { kind: 'map' }, json: JsonValue, place: Place): TypedValue | undefined {
    if (typeof json !== 'object' || json === null || Array.isArray(json))
      return this.#refuse(type, json, place);
    const entries: Record<string, TypedValue> = {};
    for (const [key, item] of Object.entries(json))
      setKey(entries, key, this.decode(type.of, item, place) ?? zeroOf(type.of));
    return entries;
  }

  #scalar(type: GoType, json: JsonValue, place: Place): TypedValue | undefined {
    switch (type.kind) {
      case 'bool':
        return typeof json === 'boolean' ? json : this.#refuse(type, json, place);
      case 'int64':
        if (typeof json !== 'number') return this.#refuse(type, json, place);
        return Number.isInteger(json) ? json : this.#refuse(type, json, place, ` ${json}`);
      case 'intOrString':
        if (typeof json === 'string' || typeof json === 'number') return json;
        this.error ??= `json: cannot unmarshal ${kindOf(json)} into Go value of type int32`;
        return undefined;
      default:
        return typeof json === 'string' ? json : this.#refuse(type, json, place);
    }
  }

  #refuse(type: GoType, json: JsonValue, { struct, path }: Place, detail = ''): undefined {
    const where = path === '' ? 'Go value' : `Go struct field ${struct}.${path}`;
    this.error ??= `json: cannot unmarshal ${kindOf(json)}${detail} into ${where} of type ${type.name}`;
  }
}

function fieldNamed(type: GoStruct, key: string): GoField | undefined {
  return type.byName.get(key) ?? type.byFoldedName.get(key.toLowerCase());
}

function isNilable(type: GoType): boolean {
  return type.kind === 'pointer' || type.kind === 'list' || type.kind === 'map' || type.kind === 'raw';
}

/** The value of an element of a list or map for null in JSON. */
function zeroOf(type: GoType): TypedValue {
  switch (type.kind) {
    case 'bool':
      return false;
    case 'int64':
      return 0;
    case 'intOrString':
      return 0;
    case 'list':
      return [];
    case 'struct':
    case 'map':
      return {};
    case 'pointer':
      return zeroOf(type.to);
    case 'raw':
    case 'any':
      return new RawJson(null);
    default:
      return '';
  }
}

/** The name of a value in the errors of the JSON decoder of Go. */
export function kindOf(json: JsonValue): string {
  if (Array.isArray(json)) return 'array';
  return json !== null && typeof json === 'object'
    ? 'object'
    : json === null
      ? 'null'
      : typeof json === 'boolean'
        ? 'bool'
        : typeof json;
}
