import type { JsonObject } from '../json/json-value.ts';
import { builtinSchema } from './builtin/builtin-schemas.ts';
import { compileSchema } from './compile-schema.ts';
import type { Schema } from './schema.ts';

/** Compiles the schema of a whole custom resource: its apiVersion, kind and metadata are those of every object. */
export function compileRootSchema(json: JsonObject): Schema {
  const own = compileSchema(json);
  const declared = own.properties?.get('metadata');
  const properties = new Map(own.properties ?? []);
  properties.set('apiVersion', { type: 'string' });
  properties.set('kind', { type: 'string' });
  properties.set('metadata', metadataSchema(declared));
  return { ...own, type: 'object', properties };
}

/** A definition may only narrow the two names. */
function metadataSchema(declared: Schema | undefined): Schema {
  const common = builtinSchema('machinery:apis.meta.v1.ObjectMeta');
  const narrowed = [...(declared?.properties ?? [])].filter(
    ([key]) => key === 'name' || key === 'generateName',
  );
  if (narrowed.length === 0) return common;
  return { ...common, properties: new Map([...(common.properties ?? []), ...narrowed]) };
}

/** OpenAPI definition name of a custom kind: the group reversed. */
export function definitionName(group: string, version: string, kind: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}
