import { sha256 } from '@berth/runtime/sha256';
import { type JsonObject, type JsonValue, setOwn } from '../../json/json-value.ts';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import type { Schema } from '../../schema/schema.ts';
import { subresourceKindSchema } from '../../scheme/builtin/builtin-definitions.ts';
import { builtinSchema, builtinSchemaNamed } from '../../scheme/builtin/builtin-schemas.ts';
import type { Scheme } from '../../scheme/scheme.ts';
import { listExtensions, patchExtensions, kindExtensions, schemaNameOf } from '../render-schema.ts';
import { encodeGnostic } from './gnostic.ts';
import { type GroupVersionKind, swaggerPaths } from './swagger-paths.ts';

/** The OpenAPI v2 document of a server, in JSON and protobuf. */
export class SwaggerDocument {
  readonly json: string;
  /** Of the content alone, the same for both forms, on every server and after a restart. */
  readonly etag: string;
  #protobuf: Buffer | undefined;

  constructor(json: string) {
    this.json = json;
    this.etag = `"${sha256(json).toUpperCase()}"`;
  }

  /**
   * The message `openapi.v2.Document` of gnostic, which client-go requests. Encoded on first use.
   */
  get protobuf(): Buffer {
    this.#protobuf ??= encodeGnostic(JSON.parse(this.json) as JsonObject);
    return this.#protobuf;
  }
}

interface Cached {
  readonly revision: number;
  readonly document: SwaggerDocument;
}

const caches = new WeakMap<Scheme, Cached>();
/**
 * Members that serve the same resources share one document, which has a megabyte in each format.
 */
const shared = new Map<string, WeakRef<SwaggerDocument>>();

/**
 * The document of the current scheme; rendered on first use, and again only after the scheme
 * changed.
 */
export function swaggerDocument(scheme: Scheme): SwaggerDocument {
  const known = caches.get(scheme);
  if (known?.revision === scheme.revision) return known.document;
  const rendered = new SwaggerDocument(JSON.stringify(render(scheme)));
  const document = shared.get(rendered.etag)?.deref() ?? rendered;
  if (document === rendered) share(rendered);
  caches.set(scheme, { revision: scheme.revision, document });
  return document;
}

function share(document: SwaggerDocument): void {
  for (const [etag, other] of shared) if (other.deref() === undefined) shared.delete(etag);
  shared.set(document.etag, new WeakRef(document));
}

function render(scheme: Scheme): JsonObject {
  const definitions: SwaggerDefinitions = new Map(Object.entries(metaDefinitions()));
  const paths: JsonObject = {};
  const optionKinds: JsonObject[] = [];
  for (const { group, versions } of scheme.groups()) {
    for (const { version, resources } of versions) {
      if (resources.some(({ definition }) => definition.builtIn))
        optionKinds.push({ group, kind: 'DeleteOptions', version });
      const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      for (const ref of resources) Object.assign(paths, renderResource(prefix, ref, definitions));
    }
  }
  const options = builtinSchema('machinery:apis.meta.v1.DeleteOptions');
  defineSwagger(options, options.name ?? '', definitions, { 'x-kubernetes-group-version-kind': optionKinds });
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: sorted(Object.entries(paths)),
    definitions: sorted(definitions),
    securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
    security: [{ BearerToken: [] }],
  };
}

function renderResource(prefix: string, ref: ResourceRef, definitions: SwaggerDefinitions): JsonObject {
  const { definition, version } = ref;
  const object = schemaNameOf(ref);
  const fields = definition.builtIn ? [] : version.selectableFields.map((fieldPath) => ({ fieldPath }));
  const selectable = fields.length === 0 ? {} : { 'x-kubernetes-selectable-fields': fields };
  defineSwagger(version.schema, object, definitions, { ...kindExtensions(ref), ...selectable });
  const list = object.replace(/[^.]*$/, definition.listKind);
  if (definition.verbs.includes('list')) {
    const kind = { group: definition.group, kind: definition.listKind, version: version.name };
    definitions.set(list, { ...listDefinition(object, kind), ...selectable });
  }
  const other = (kind: GroupVersionKind): string => defineOther(kind, definitions) ?? object;
  return swaggerPaths(prefix, ref, { object, list, other });
}

/** Kinds that are bodies of subresources only; undefined when the subresource has the kind of its object. */
function defineOther(kind: GroupVersionKind, definitions: SwaggerDefinitions): string | undefined {
  const schema = subresourceKindSchema(kind.group, kind.kind);
  if (schema?.name === undefined) return undefined;
  defineSwagger(schema, schema.name, definitions, { 'x-kubernetes-group-version-kind': [{ ...kind }] });
  return schema.name;
}

const sorted = (entries: Iterable<readonly [string, unknown]>): JsonObject =>
  Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1))) as JsonObject;

/** Definitions of a document by name, filled as references to them are rendered. */
type SwaggerDefinitions = Map<string, JsonObject>;

/**
 * A schema in OpenAPI v2, which has fewer keywords than v3: no `allOf` and the like, no
 * `nullable`, no defaults. Parts that kubectl would misread without them are omitted.
 *
 * Source: apiextensions-apiserver pkg/controller/openapi/v2/conversion.go and builder/builder.go;
 * defaults are pruned by kube-openapi pkg/handler/default_pruning.go.
 */
function swaggerSchema(schema: Schema, definitions: SwaggerDefinitions): JsonObject {
  if (schema.name === undefined) return swaggerBody(schema, definitions);
  defineSwagger(schema, schema.name, definitions);
  const reference = { $ref: `#/definitions/${schema.name}` };
  // Clients read keywords beside a reference, which the field adds to the definition.
  const { mapType } = ownDefinition(schema);
  const { mapType: own, ...field } = schema;
  return { ...reference, ...patchExtensions(schema), ...listExtensions(own === mapType ? field : schema) };
}

/** Renders the body of a named schema once; a field that refers to a built-in definition adds nothing to it. */
function defineSwagger(
  schema: Schema,
  name: string,
  definitions: SwaggerDefinitions,
  more: JsonObject = {},
): void {
  if (definitions.has(name)) return;
  const body: JsonObject = {};
  definitions.set(name, body);
  Object.assign(body, swaggerBody(ownDefinition(schema), definitions), more);
}

const ownDefinition = (schema: Schema): Schema =>
  (schema.name === undefined ? undefined : builtinSchemaNamed(schema.name)) ?? schema;

function swaggerBody(schema: Schema, definitions: SwaggerDefinitions): JsonObject {
  const json: JsonObject = {
    ...typeKeywords(schema),
    ...(schema.description === undefined ? {} : { description: schema.description }),
    ...patchExtensions(schema),
    ...listExtensions(schema),
    ...limitKeywords(schema),
  };
  const isOpen = schema.nullable === true || keepsUnknown(schema);
  if (!isOpen && schema.properties !== undefined && schema.properties.size > 0)
    json['properties'] = propertiesOf(schema.properties, definitions);
  if (!isOpen && schema.items !== undefined) json['items'] = swaggerSchema(schema.items, definitions);
  const required = requiredOf(schema);
  if (required.length > 0) json['required'] = required;
  if (schema.additional === true) json['additionalProperties'] = true;
  else if (schema.additional !== undefined)
    json['additionalProperties'] = swaggerSchema(schema.additional, definitions);
  if (schema.rules !== undefined)
    json['x-kubernetes-validations'] = schema.rules.map((rule) => ({ ...rule }));
  return json;
}

function propertiesOf(declared: ReadonlyMap<string, Schema>, definitions: SwaggerDefinitions): JsonObject {
  const properties: JsonObject = {};
  for (const [key, below] of declared) setOwn(properties, key, swaggerSchema(below, definitions));
  return properties;
}

/**
 * Free-form built-in types are named, and do not declare `x-kubernetes-preserve-unknown-fields`.
 */
const keepsUnknown = (schema: Schema): boolean =>
  schema.preserveUnknown === true && schema.name === undefined;

function typeKeywords(schema: Schema): JsonObject {
  // kube-openapi gives these two a type of their own in v2 (`ExtensionV2Schema`).
  if (schema.name !== undefined && schema.format === 'quantity') return { type: 'string' };
  if (schema.name !== undefined && schema.format === 'int-or-string')
    return { type: 'string', format: 'int-or-string' };
  const json: JsonObject = {};
  if (isTyped(schema)) json['type'] = schema.type;
  if (schema.format !== undefined) json['format'] = schema.format;
  if (schema.intOrString === true) json['x-kubernetes-int-or-string'] = true;
  if (keepsUnknown(schema)) json['x-kubernetes-preserve-unknown-fields'] = true;
  if (schema.embeddedResource === true) json['x-kubernetes-embedded-resource'] = true;
  return json;
}

/** kubectl cannot read a type that may be null, an array without items, or an object that keeps unknown fields. */
function isTyped(schema: Schema): boolean {
  if (schema.type === '' || schema.nullable === true) return false;
  if (keepsUnknown(schema) && schema.type === 'object') return false;
  return schema.type !== 'array' || (schema.items !== undefined && !keepsUnknown(schema));
}

function limitKeywords({ limits }: Schema): JsonObject {
  if (limits === undefined) return {};
  const { allOf: _allOf, anyOf: _anyOf, oneOf: _oneOf, not: _not, ...plain } = limits;
  return plain as Readonly<Record<string, JsonValue>>;
}

function requiredOf(schema: Schema): string[] {
  if (typeof schema.additional === 'object' && schema.additional.nullable === true) return [];
  const named = (schema.required ?? []).filter((key) => schema.properties?.get(key)?.nullable !== true);
  if (schema.embeddedResource !== true || keepsUnknown(schema)) return [...named];
  return [...new Set([...named, 'kind', 'apiVersion'])];
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

const reference = (name: string): JsonObject => ({ $ref: `#/definitions/${META}${name}` });

const TEXT = { type: 'string' };
const COUNT = { type: 'integer', format: 'int32' };

/**
 * Types of responses that no stored object contains. Source: apimachinery
 * pkg/apis/meta/v1/types.go.
 */
function metaDefinitions(): Readonly<Record<string, JsonObject>> {
  const cause = { type: 'object', properties: { field: TEXT, message: TEXT, reason: TEXT } };
  const details = {
    causes: { type: 'array', items: reference('StatusCause'), 'x-kubernetes-list-type': 'atomic' },
    group: TEXT,
    kind: TEXT,
    name: TEXT,
    retryAfterSeconds: COUNT,
    uid: TEXT,
  };
  const list = {
    continue: TEXT,
    remainingItemCount: { type: 'integer', format: 'int64' },
    resourceVersion: TEXT,
    selfLink: TEXT,
  };
  const status = {
    apiVersion: TEXT,
    code: COUNT,
    details: reference('StatusDetails'),
    kind: TEXT,
    message: TEXT,
    metadata: reference('ListMeta'),
    reason: TEXT,
    status: TEXT,
  };
  return {
    [`${META}ListMeta`]: { type: 'object', properties: list },
    [`${META}Patch`]: { type: 'object' },
    [`${META}Status`]: {
      type: 'object',
      properties: status,
      'x-kubernetes-group-version-kind': [{ group: '', kind: 'Status', version: 'v1' }],
    },
    [`${META}StatusCause`]: cause,
    [`${META}StatusDetails`]: { type: 'object', properties: details },
  };
}

/** The list kind of a resource. Source: apiextensions-apiserver pkg/controller/openapi/builder (`buildListSchema`). */
function listDefinition(itemName: string, kind: Readonly<Record<string, string>>): JsonObject {
  return {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: TEXT,
      items: { type: 'array', items: { $ref: `#/definitions/${itemName}` } },
      kind: TEXT,
      metadata: reference('ListMeta'),
    },
    'x-kubernetes-group-version-kind': [{ ...kind }],
  };
}
