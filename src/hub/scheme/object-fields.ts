import { builtinSchema } from './builtin/builtin-schemas.ts';
import type { Schema } from '../schema/schema.ts';

const TEXT: Schema = { type: 'string' };

/**
 * Schemas of the fields that every object has: of a whole custom resource, and of an object embedded in one.
 * @param declared what the definition itself says of these fields; of metadata it may only narrow the two names
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

let made: Schema | undefined;

/** Metadata as it is read: fields that must be there are for validation to miss, in words of its own. */
export function objectMetaSchema(): Schema {
  made ??= withoutRequired(builtinSchema('machinery:apis.meta.v1.ObjectMeta'), 'ownerReferences');
  return made;
}

function withoutRequired(schema: Schema, list: string): Schema {
  const owners = schema.properties?.get(list);
  if (owners?.items === undefined) return schema;
  const { required: _required, ...items } = owners.items;
  return { ...schema, properties: new Map([...(schema.properties ?? []), [list, { ...owners, items }]]) };
}
