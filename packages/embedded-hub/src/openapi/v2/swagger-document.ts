import { sha256 } from '@berth/runtime/sha256';
import type { JsonObject } from '../../json/json-value.ts';
import { subresourceKindSchema } from '../../scheme/builtin/builtin-definitions.ts';
import { builtinSchema } from '../../scheme/builtin/builtin-schemas.ts';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import type { Scheme } from '../../scheme/scheme.ts';
import { kindExtensions, schemaNameOf } from '../definition-names.ts';
import { encodeGnostic } from './gnostic.ts';
import { listDefinition, metaDefinitions } from './meta-definitions.ts';
import type { GroupVersionKind } from './swagger-paths.ts';
import { swaggerPaths } from './swagger-paths.ts';
import type { SwaggerDefinitions } from './swagger-schema.ts';
import { defineSwagger } from './swagger-schema.ts';

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
