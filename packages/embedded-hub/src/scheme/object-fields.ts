import { builtinSchema } from './builtin/builtin-schemas.ts';
import type { Schema } from '../schema/schema.ts';

const TEXT: Schema = { type: 'string' };

/**
 * Schemas of apiVersion, kind and metadata, for custom resources and for objects embedded in them.
 * @param declared the schema in the definition; for metadata it may only restrict `name` and
 * `generateName`
 */
export function objectFields(
  declared: ReadonlyMap<string, Schema> | undefined,
): readonly (readonly [string, Schema])[] {
  return [
    ['apiVersion', declared?.get('apiVersion') ?? TEXT],
    ['kind', declared?.get('kind') ?? TEXT],
    ['metadata', metadataSchema(declared?.get('metadata'))],
  ];
}

function metadataSchema(declared: Schema | undefined): Schema {
  const common = objectMetaSchema();
  const narrowed = [...(declared?.properties ?? [])].filter(
    ([key]) => key === 'name' || key === 'generateName',
  );
  if (narrowed.length === 0) return common;
  return { ...common, properties: new Map([...(common.properties ?? []), ...narrowed]) };
}

let metaSchema: Schema | undefined;

/**
 * The schema of metadata for decoding. No field is required: validation reports missing ones with
 * its own messages.
 */
export function objectMetaSchema(): Schema {
  metaSchema ??= withoutRequired(builtinSchema('machinery:apis.meta.v1.ObjectMeta'), 'ownerReferences');
  return metaSchema;
}

function withoutRequired(schema: Schema, list: string): Schema {
  const owners = schema.properties?.get(list);
  if (owners?.items === undefined) return schema;
  const { required: _required, ...items } = owners.items;
  return { ...schema, properties: new Map([...(schema.properties ?? []), [list, { ...owners, items }]]) };
}
