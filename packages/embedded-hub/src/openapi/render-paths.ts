import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';

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
export function renderPaths(prefix: string, ref: ResourceRef, schemaName: string): JsonObject {
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
