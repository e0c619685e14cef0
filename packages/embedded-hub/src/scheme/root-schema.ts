import type { JsonObject } from '../json/json-value.ts';
import { compileSchema } from './compile-schema.ts';
import { objectFields } from './object-fields.ts';
import type { Schema } from '../schema/schema.ts';

/**
 * Compiles the schema of a custom resource, with the apiVersion, kind and metadata of every object.
 */
export function compileRootSchema(json: JsonObject): Schema {
  const own = compileSchema(json);
  const metadata = own.properties?.get('metadata');
  const declared = new Map(metadata === undefined ? [] : [['metadata', metadata] as const]);
  const properties = new Map([...(own.properties ?? []), ...objectFields(declared)]);
  return { ...own, type: 'object', properties };
}

/** OpenAPI definition name of a custom kind: the group reversed. */
export function definitionName(group: string, version: string, kind: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}
