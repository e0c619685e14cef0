/** The schema of a value, as compact tables that check.ts evaluates. */
export type Schema =
  | StringSchema
  | { readonly type: 'integer'; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: 'boolean' }
  | { readonly type: 'any' }
  | { readonly type: 'intOrString'; readonly pattern: RegExp; readonly patternName: string }
  | { readonly type: 'map'; readonly values: Schema }
  | ListSchema
  | ObjectSchema;

export interface StringSchema {
  readonly type: 'string';
  readonly oneOf?: readonly string[];
  readonly pattern?: RegExp;
  /** A description of the pattern: `a label key`. */
  readonly patternName?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly nullable?: boolean;
}

export interface ListSchema {
  readonly type: 'list';
  readonly items: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Entries must differ in these fields. */
  readonly uniqueBy?: string;
}

export interface ObjectSchema {
  readonly type: 'object';
  readonly fields: ReadonlyMap<string, Schema>;
  readonly required: readonly string[];
  /** Unknown fields are allowed. */
  readonly open: boolean;
}

/** Names that end in `!` are required. */
export function object(
  fields: Readonly<Record<string, Schema>>,
  options: { open?: boolean } = {},
): ObjectSchema {
  const known = new Map<string, Schema>();
  const required: string[] = [];
  for (const [name, schema] of Object.entries(fields)) {
    const plain = name.endsWith('!') ? name.slice(0, -1) : name;
    known.set(plain, schema);
    if (plain !== name) required.push(plain);
  }
  return { type: 'object', fields: known, required, open: options.open ?? false };
}

export const string: StringSchema = { type: 'string' };
export const boolean: Schema = { type: 'boolean' };
export const integer: Schema = { type: 'integer' };
export const any: Schema = { type: 'any' };
export const stringMap: Schema = { type: 'map', values: string };

export function list(items: Schema, limits: Omit<ListSchema, 'type' | 'items'> = {}): ListSchema {
  return { type: 'list', items, ...limits };
}

export function oneOf(...values: readonly string[]): StringSchema {
  return { type: 'string', oneOf: values };
}

export function text(limits: Omit<StringSchema, 'type'>): StringSchema {
  return { type: 'string', ...limits };
}

export function between(minimum: number, maximum = Number.MAX_SAFE_INTEGER): Schema {
  return { type: 'integer', minimum, maximum };
}
