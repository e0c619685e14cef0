import type { RawJson } from '../json/go-json-text.ts';

/**
 * The Go types of the API of Argo CD, as far as rendering depends on them: the order of fields
 * (templates are rendered in it, and the first error counts), what is omitted when empty, and how a
 * strategic merge patch treats lists.
 */
export type GoType =
  | {
      readonly kind: 'string' | 'bool' | 'int64' | 'time' | 'intOrString' | 'raw' | 'any';
      /** The name in Go, as JSON errors show it. */
      readonly name: string;
    }
  | { readonly kind: 'pointer'; readonly name: string; readonly to: GoType }
  | { readonly kind: 'list'; readonly name: string; readonly of: GoType }
  | { readonly kind: 'map'; readonly name: string; readonly of: GoType }
  | GoStruct;

export interface GoStruct {
  readonly kind: 'struct';
  readonly name: string;
  /** The name without its package. */
  readonly shortName: string;
  readonly fields: readonly GoField[];
  readonly byName: ReadonlyMap<string, GoField>;
  /** The fields by lower-case name, because the JSON decoder of Go accepts any letter case. */
  readonly byFoldedName: ReadonlyMap<string, GoField>;
}

export interface GoField {
  /** Name in JSON. */
  readonly name: string;
  readonly type: GoType;
  /**
   * When the field is omitted from JSON. `empty`: if it is empty (a struct never is). `zero`: if it
   * is zero (a struct is if all of its fields are).
   */
  readonly omit: 'never' | 'empty' | 'zero';
  /**
   * How a strategic merge patch merges a list: by this key, or as a set (''). Undefined if the
   * patch replaces the list.
   */
  readonly mergeKey: string | undefined;
}

const SCALARS: Readonly<Record<string, GoType>> = {
  string: { kind: 'string', name: 'string' },
  bool: { kind: 'bool', name: 'bool' },
  int64: { kind: 'int64', name: 'int64' },
  time: { kind: 'time', name: 'v1.Time' },
  intOrString: { kind: 'intOrString', name: 'intstr.IntOrString' },
  raw: { kind: 'raw', name: 'runtime.RawExtension' },
  json: { kind: 'raw', name: 'v1.JSON' },
  any: { kind: 'any', name: 'interface {}' },
};

/**
 * Builds types from one line for each struct. The line lists the fields as
 * `name[?]:type[+mergeKey]`. `?` is omitempty of Go and `!` is omitzero. A type is a scalar,
 * another struct, `*type`, `[]type`, `{}type` (a map by string), or `Name=type` for a named type.
 * `...Name` includes the fields of an embedded struct.
 * @param packages the package for the name of a struct, if it is not `v1alpha1`
 */
export function describeGoTypes(
  lines: Readonly<Record<string, string>>,
  packages: Readonly<Record<string, string>> = {},
): (name: string) => GoStruct {
  const built = new Map<string, GoStruct>();
  const structNamed = (name: string): GoStruct => {
    const known = built.get(name);
    if (known !== undefined) return known;
    const line = lines[name];
    if (line === undefined) throw new TypeError(`no Go type ${name}`);
    const fields = line.split(/\s+/).flatMap((part) => (part === '' ? [] : fieldsOf(part)));
    const struct: GoStruct = {
      kind: 'struct',
      name: `${packages[name] ?? 'v1alpha1'}.${name}`,
      shortName: name,
      fields,
      byName: new Map(fields.map((field) => [field.name, field])),
      byFoldedName: new Map(fields.map((field) => [field.name.toLowerCase(), field])),
    };
    built.set(name, struct);
    return struct;
  };
  const fieldsOf = (part: string): readonly GoField[] => {
    if (part.startsWith('...')) return structNamed(part.slice(3)).fields;
    const at = part.indexOf(':');
    const label = part.slice(0, at);
    const [type = '', mergeKey] = part.slice(at + 1).split('+');
    const omit = label.endsWith('?') ? 'empty' : label.endsWith('!') ? 'zero' : 'never';
    return [{ name: omit === 'never' ? label : label.slice(0, -1), type: typeOf(type), omit, mergeKey }];
  };
  const typeOf = (text: string): GoType => {
    if (text.startsWith('*')) {
      const to = typeOf(text.slice(1));
      return { kind: 'pointer', name: to.name, to };
    }
    if (text.startsWith('[]')) {
      const of = typeOf(text.slice(2));
      return { kind: 'list', name: `[]${of.name}`, of };
    }
    if (text.startsWith('{}')) {
      const of = typeOf(text.slice(2));
      return { kind: 'map', name: `map[string]${of.name}`, of };
    }
    const named = /^(\w+)=(.+)$/.exec(text);
    if (named !== null) return { ...typeOf(named[2] ?? ''), name: `v1alpha1.${named[1] ?? ''}` };
    return SCALARS[text] ?? structNamed(text);
  };
  return structNamed;
}

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
