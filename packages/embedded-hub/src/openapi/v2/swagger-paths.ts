import type { JsonObject } from '../../json/json-value.ts';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import { PATCH_TYPES, STRATEGIC_MERGE_PATCH } from '../openapi.ts';

/** The names of the definitions that the operations of one resource refer to. */
export interface PathDefinitions {
  readonly object: string;
  readonly list: string;
  /** By kind of a subresource. */
  readonly other: (kind: GroupVersionKind) => string;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface Operation {
  readonly action: string;
  readonly kind: GroupVersionKind;
  readonly body?: string;
  /** Definition of the response with code 200. */
  readonly response: string;
  readonly query?: readonly JsonObject[];
  readonly consumes?: readonly string[];
}

export const SCALE_KIND: GroupVersionKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';
const PRODUCES = ['application/json', 'application/yaml'];

const query = (name: string, type = 'string'): JsonObject => {
  return { uniqueItems: true, type, name, in: 'query' };
};
const inPath = (name: string): JsonObject => {
  return { uniqueItems: true, type: 'string', name, in: 'path', required: true };
};

/** kubectl recognises features of the server by `dryRun` and `fieldValidation`. */
const WRITE = [query('dryRun'), query('fieldManager'), query('fieldValidation')];
const SELECT = [query('continue'), query('fieldSelector'), query('labelSelector'), query('limit', 'integer')];
const LIST = [
  ...SELECT,
  query('resourceVersion'),
  query('timeoutSeconds', 'integer'),
  query('watch', 'boolean'),
];
const DELETE = [query('dryRun'), query('gracePeriodSeconds', 'integer'), query('propagationPolicy')];

/**
 * Path items of one resource as OpenAPI v2: its collections, its items, and their subresources.
 * Source: apiextensions-apiserver pkg/controller/openapi/builder/builder.go (`generateBuilder`).
 * @param prefix `/api/v1` or `/apis/GROUP/VERSION`
 */
export function swaggerPaths(prefix: string, ref: ResourceRef, names: PathDefinitions): JsonObject {
  const { definition, version } = ref;
  const kind = { group: definition.group, version: version.name, kind: definition.kind };
  const space = definition.namespaced ? [inPath('namespace')] : [];
  const base = `${prefix}${definition.namespaced ? '/namespaces/{namespace}' : ''}/${definition.plural}`;
  const create = operation({
    action: 'post',
    kind,
    body: names.object,
    response: names.object,
    query: WRITE,
  });
  if (!definition.verbs.includes('get')) return { [base]: { post: create, ...shared(space) } };
  const list = operation({ action: 'list', kind, response: names.list, query: LIST });
  const paths: JsonObject = {
    [base]: { get: list, post: create, delete: deletion('deletecollection', kind), ...shared(space) },
    [`${base}/{name}`]: {
      ...readAndWrite(kind, names.object, patchTypes(ref)),
      delete: deletion('delete', kind),
      ...shared([inPath('name'), ...space]),
    },
  };
  if (definition.namespaced) paths[`${prefix}/${definition.plural}`] = { get: list };
  for (const [name, item] of subresources(ref, kind, names))
    paths[`${base}/{name}/${name}`] = { ...item, ...shared([inPath('name'), ...space]) };
  return paths;
}

function subresources(
  ref: ResourceRef,
  kind: GroupVersionKind,
  names: PathDefinitions,
): readonly (readonly [string, JsonObject])[] {
  const { status, scale, others } = ref.version.subresources;
  const types = patchTypes(ref);
  return [
    ...(status ? [['status', readAndWrite(kind, names.object, types)] as const] : []),
    ...(scale === undefined
      ? []
      : [['scale', readAndWrite(SCALE_KIND, names.other(SCALE_KIND), types)] as const]),
    ...others.map((other) => {
      const all = { ...readAndWrite(other.kind, names.other(other.kind), types) };
      const response = names.other(other.kind);
      all['post'] = operation({ action: 'post', kind: other.kind, body: response, response, query: WRITE });
      const methods = other.verbs.map((verb) => METHODS[verb] ?? verb);
      return [
        other.name,
        Object.fromEntries(Object.entries(all).filter(([key]) => methods.includes(key))),
      ] as const;
    }),
  ];
}

const METHODS: Readonly<Record<string, string>> = { create: 'post', update: 'put' };

function readAndWrite(kind: GroupVersionKind, name: string, consumes: readonly string[]): JsonObject {
  return {
    get: operation({ action: 'get', kind, response: name }),
    put: operation({ action: 'put', kind, body: name, response: name, query: WRITE }),
    patch: operation({
      action: 'patch',
      kind,
      body: `${META}Patch`,
      response: name,
      query: [...WRITE, query('force', 'boolean')],
      consumes,
    }),
  };
}

function deletion(action: string, kind: GroupVersionKind): JsonObject {
  const parameters = action === 'delete' ? DELETE : [...DELETE, ...SELECT];
  const { parameters: inQuery, ...rest } = operation({
    action,
    kind,
    response: `${META}Status`,
    query: parameters,
  });
  const body = { in: 'body', name: 'body', schema: { $ref: `#/definitions/${META}DeleteOptions` } };
  return { ...rest, parameters: [body, ...(inQuery as JsonObject[])] };
}

function operation({
  action,
  kind,
  body,
  response,
  query: inQuery = [],
  consumes = ['*/*'],
}: Operation): JsonObject {
  const whole = { in: 'body', name: 'body', required: true, schema: { $ref: `#/definitions/${body ?? ''}` } };
  const parameters = [...(body === undefined ? [] : [whole]), ...inQuery];
  return {
    consumes: [...consumes],
    produces: PRODUCES,
    schemes: ['https'],
    ...(parameters.length > 0 && { parameters }),
    responses: {
      '200': { description: 'OK', schema: { $ref: `#/definitions/${response}` } },
      '401': { description: 'Unauthorized' },
    },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { ...kind },
  };
}

const patchTypes = ({ definition }: ResourceRef): readonly string[] =>
  definition.builtIn ? [...PATCH_TYPES, STRATEGIC_MERGE_PATCH] : PATCH_TYPES;

const shared = (parameters: readonly JsonObject[]): JsonObject =>
  parameters.length === 0 ? {} : { parameters: [...parameters] };
