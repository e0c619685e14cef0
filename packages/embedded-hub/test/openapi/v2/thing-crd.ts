import type { JsonObject } from '../../../src/json/json-value.ts';

/** A definition with everything that OpenAPI v2 says in another way than v3, or not at all. */
export function thingCrd(): JsonObject {
  const properties = {
    size: {
      type: 'integer',
      description: 'How large.',
      minimum: 1,
      default: 1,
      anyOf: [{ minimum: 1 }, { maximum: 9 }],
    },
    maybe: { type: 'string', nullable: true, maxLength: 9 },
    open: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'string' } },
    },
    port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    loose: { type: 'array', items: { type: 'object' }, nullable: true },
    labels: { type: 'object', additionalProperties: { type: 'string', enum: ['a', 'b\u007f'] } },
    nothings: { type: 'object', additionalProperties: { type: 'string', nullable: true } },
    share: { type: 'number', maximum: 1.5, exclusiveMaximum: true, multipleOf: 0.5 },
    embedded: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { data: { type: 'string' } },
    },
    carried: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    rows: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    },
  };
  const spec = {
    type: 'object',
    description: 'What is wanted.',
    required: ['size', 'maybe'],
    properties,
    'x-kubernetes-validations': [{ rule: 'self.size != 7', message: 'not seven' }],
  };
  const openAPIV3Schema = { type: 'object', description: 'A thing.', properties: { spec } };
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema },
    selectableFields: [{ jsonPath: '.spec.size' }],
    subresources: { status: {} },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [version],
    },
  };
}
