import type { JsonObject } from '@berth/runtime/json/json-value';
import { anyObject, time } from './meta.ts';
import { namedPattern } from './pattern-names.ts';
import { any, between, boolean, integer, list, object, oneOf, text } from './schema.ts';
import type { Schema, StringSchema } from './schema.ts';

/** The part of OpenAPI v3 that OCM's definitions use. */
interface OpenApi {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, OpenApi>>;
  readonly required?: readonly string[];
  readonly items?: OpenApi;
  readonly additionalProperties?: OpenApi;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

/** Schemas that replace derived ones, by path: `.spec.tolerations[].operator`. */
export type Replacements = Readonly<Record<string, Schema>>;

const INT32 = { minimum: -2147483648, maximum: 2147483647 };

/**
 * Converts the OpenAPI schema of a hub to the schema for manifests. A required field with a default
 * may be omitted, as on a hub.
 * @throws Error for a replacement whose path is not in the schema, which is a bug
 */
export function schemaFromOpenApi(schema: JsonObject, replacements: Replacements): Schema {
  const unused = new Map(Object.entries(replacements));
  const take = (path: string): Schema | undefined => {
    const found = replacements[path];
    unused.delete(path);
    return found;
  };
  const derived = derive(schema, '', take);
  if (unused.size > 0) throw new Error(`the schema has no field ${[...unused.keys()].join(', ')}`);
  return derived;
}

/** The replacement for the schema at a path. */
type Take = (path: string) => Schema | undefined;

function derive(schema: OpenApi, path: string, take: Take): Schema {
  const replacement = take(path);
  if (replacement !== undefined) return replacement;
  if (schema['x-kubernetes-int-or-string'] === true)
    return { type: 'intOrString', ...namedPattern(schema.pattern ?? '') };
  if (schema['x-kubernetes-embedded-resource'] === true) return anyObject;
  switch (schema.type) {
    case 'object':
      return deriveObject(schema, path, take);
    case 'array':
      return deriveList(schema, path, take);
    case 'string':
      return deriveString(schema);
    case 'integer':
      return deriveInteger(schema);
    case 'boolean':
      return boolean;
    default:
      return any;
  }
}

function deriveObject(schema: OpenApi, path: string, take: Take): Schema {
  const { properties, additionalProperties, required = [] } = schema;
  if (additionalProperties !== undefined)
    return { type: 'map', values: derive(additionalProperties, `${path}{}`, take) };
  if (properties === undefined) return any;
  const fields = Object.entries(properties).map(([name, field]): [string, Schema] => {
    const isRequired = required.includes(name) && field.default === undefined;
    return [isRequired ? `${name}!` : name, derive(field, `${path}.${name}`, take)];
  });
  return object(Object.fromEntries(fields));
}

function deriveList(schema: OpenApi, path: string, take: Take): Schema {
  const { items = {}, minItems, maxItems, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  return list(derive(items, `${path}[]`, take), {
    ...(minItems === undefined ? {} : { minItems }),
    ...(maxItems === undefined ? {} : { maxItems }),
    ...(keys.length === 1 && keys[0] !== undefined ? { uniqueBy: keys[0] } : {}),
  });
}

function deriveString({
  enum: words,
  format,
  pattern,
  nullable,
  minLength,
  maxLength,
}: OpenApi): StringSchema {
  const shape = format === 'date-time' ? time : words === undefined ? text({}) : oneOf(...words);
  return {
    ...shape,
    ...(pattern === undefined ? {} : namedPattern(pattern)),
    ...(nullable === undefined ? {} : { nullable }),
    ...(minLength === undefined ? {} : { minLength }),
    ...(maxLength === undefined ? {} : { maxLength }),
  };
}

function deriveInteger({ format, minimum, maximum }: OpenApi): Schema {
  const range = format === 'int32' ? INT32 : undefined;
  const lowest = minimum ?? range?.minimum;
  return lowest === undefined ? integer : between(lowest, maximum ?? range?.maximum);
}
