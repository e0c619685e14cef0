import { sha256 } from '@berth/runtime/sha256';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { subresourceKindSchema } from '../scheme/builtin/builtin-definitions.ts';
import { builtinSchema } from '../scheme/builtin/builtin-schemas.ts';
import type { Scheme } from '../scheme/scheme.ts';
import { define, type Definitions, kindExtensions, schemaNameOf } from './render-schema.ts';

export interface OpenApiDocument {
  readonly text: string;
  /** Depends on the content only: the same after a restart and on every server. */
  readonly hash: string;
}

interface Cache {
  readonly revision: number;
  readonly documents: Map<string, OpenApiDocument>;
}

const caches = new WeakMap<Scheme, Cache>();

/**
 * `GET /openapi/v3`: the URLs of all documents, which contain a hash, so that clients can cache
 * them permanently.
 * @param others URLs of the documents of other servers, by path
 */
export function openApiIndex(
  scheme: Scheme,
  others: Readonly<Record<string, string>> = {},
): { readonly body: JsonObject } {
  const paths: JsonObject = {};
  for (const { group, versions } of scheme.groups()) {
    for (const { version } of versions) {
      const path = pathOf(group, version);
      const hash = openApiDocument(scheme, path)?.hash ?? '';
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
    }
  }
  for (const [path, serverRelativeURL] of Object.entries(others)) paths[path] = { serverRelativeURL };
  return { body: { paths } };
}

/** @param path `api/v1` or `apis/GROUP/VERSION`; undefined when nothing is served there */
export function openApiDocument(scheme: Scheme, path: string): OpenApiDocument | undefined {
  let cache = caches.get(scheme);
  if (cache?.revision !== scheme.revision) {
    cache = { revision: scheme.revision, documents: new Map() };
    caches.set(scheme, cache);
  }
  const known = cache.documents.get(path);
  if (known !== undefined) return known;
  const rendered = render(scheme, path);
  if (rendered !== undefined) cache.documents.set(path, rendered);
  return rendered;
}

function pathOf(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function render(scheme: Scheme, path: string): OpenApiDocument | undefined {
  for (const { group, versions } of scheme.groups()) {
    const served = versions.find(({ version }) => pathOf(group, version) === path);
    if (served === undefined) continue;
    const text = JSON.stringify(documentOf(path, served.resources));
    return { text, hash: sha256(text).slice(0, 32).toUpperCase() };
  }
  return undefined;
}

function documentOf(path: string, resources: readonly ResourceRef[]): JsonObject {
  const definitions: Definitions = new Map();
  const paths: JsonObject = {};
  for (const ref of resources) {
    const name = schemaNameOf(ref);
    define(ref.version.schema, name, definitions, kindExtensions(ref));
    Object.assign(paths, renderPaths(`/${path}`, ref, name));
    for (const other of ref.version.subresources.others) defineOther(other.kind, definitions);
    if (ref.version.subresources.scale !== undefined) defineOther(SCALE, definitions);
  }
  const options = builtinSchema('machinery:apis.meta.v1.DeleteOptions');
  define(options, options.name ?? '', definitions);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1' },
    paths,
    components: { schemas: Object.fromEntries([...definitions].sort(([a], [b]) => (a < b ? -1 : 1))) },
  };
}

const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const;

/** Kinds that are bodies of subresources only. */
function defineOther(
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  definitions: Definitions,
): void {
  const schema = subresourceKindSchema(kind.group, kind.kind);
  if (schema?.name !== undefined)
    define(schema, schema.name, definitions, { 'x-kubernetes-group-version-kind': [{ ...kind }] });
}

const query = (name: string, type = 'string'): JsonObject => ({ name, in: 'query', schema: { type } });

/** Parameters by which clients identify features of the server. */
const WRITE = [query('dryRun'), query('fieldManager'), query('fieldValidation')];
const READ = [
  query('fieldSelector'),
  query('labelSelector'),
  query('limit', 'integer'),
  query('resourceVersion'),
];

/** How objects of every kind can be patched. */
export const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
];
/** Built-in kinds only. */
export const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';

/** Path items of one resource: its collections, its items, and their subresources. */
function renderPaths(prefix: string, ref: ResourceRef, schemaName: string): JsonObject {
  const { definition, version } = ref;
  const base = definition.namespaced
    ? `${prefix}/namespaces/{namespace}/${definition.plural}`
    : `${prefix}/${definition.plural}`;
  const operation = operations(ref, schemaName);
  if (!definition.verbs.includes('get')) return { [base]: { post: operation('post', WRITE) } };
  const item: JsonObject = {
    get: operation('get', []),
    put: operation('put', WRITE),
    patch: operation('patch', [...WRITE, query('force', 'boolean')]),
    delete: operation('delete', [query('dryRun'), query('propagationPolicy')]),
  };
  const paths: JsonObject = {
    [base]: {
      get: operation('list', READ),
      post: operation('post', WRITE),
      delete: operation('deletecollection', READ),
    },
    [`${base}/{name}`]: item,
  };
  if (definition.namespaced) paths[`${prefix}/${definition.plural}`] = { get: operation('list', READ) };
  const writable = {
    get: item['get'] as JsonValue,
    put: item['put'] as JsonValue,
    patch: item['patch'] as JsonValue,
  };
  if (version.subresources.status) paths[`${base}/{name}/status`] = writable;
  if (version.subresources.scale !== undefined) {
    const scale = {
      'x-kubernetes-group-version-kind': { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    };
    const write = { ...scale, parameters: WRITE };
    paths[`${base}/{name}/scale`] = { get: scale, put: write, patch: write };
  }
  for (const other of version.subresources.others) {
    const gvk = { 'x-kubernetes-group-version-kind': { ...other.kind } };
    // kubectl checks any patch operation of a kind to find out whether the server validates fields,
    // so all must declare it.
    const methods = other.verbs.map((verb) => [
      verb === 'create' ? 'post' : verb === 'update' ? 'put' : verb,
      verb === 'get' ? gvk : { ...gvk, parameters: WRITE },
    ]);
    paths[`${base}/{name}/${other.name}`] = Object.fromEntries(methods) as JsonObject;
  }
  return paths;
}

function operations(
  ref: ResourceRef,
  schemaName: string,
): (action: string, parameters: readonly JsonObject[]) => JsonObject {
  const { definition, version } = ref;
  const kind = { group: definition.group, version: version.name, kind: definition.kind };
  const content = { 'application/json': { schema: { $ref: `#/components/schemas/${schemaName}` } } };
  const patchTypes = definition.builtIn ? [...PATCH_TYPES, STRATEGIC_MERGE_PATCH] : PATCH_TYPES;
  return (action, parameters) => {
    const body: JsonObject | undefined =
      action === 'post' || action === 'put'
        ? { content, required: true }
        : action === 'patch'
          ? {
              content: Object.fromEntries(patchTypes.map((type) => [type, { schema: { type: 'object' } }])),
              required: true,
            }
          : undefined;
    return {
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': kind,
      ...(parameters.length === 0 ? {} : { parameters: [...parameters] }),
      ...(body === undefined ? {} : { requestBody: body }),
      responses: { '200': { description: 'OK', content } },
    };
  };
}
