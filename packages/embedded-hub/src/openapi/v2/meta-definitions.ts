import type { JsonObject } from '../../json/json-value.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';
const TEXT = { type: 'string' };
const COUNT = { type: 'integer', format: 'int32' };
const reference = (name: string): JsonObject => ({ $ref: `#/definitions/${META}${name}` });

/**
 * Types of responses that no stored object contains. Source: apimachinery
 * pkg/apis/meta/v1/types.go.
 */
export function metaDefinitions(): Readonly<Record<string, JsonObject>> {
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
export function listDefinition(itemName: string, kind: Readonly<Record<string, string>>): JsonObject {
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
