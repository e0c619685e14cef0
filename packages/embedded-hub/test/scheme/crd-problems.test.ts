import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/json-value.ts';
import { PipelineStore } from '../write/pipeline-store.ts';

describe('custom resource definitions', () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const crd = (schema: unknown, more: JsonObject = {}): unknown => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      ...more,
    },
  });

  const item = { type: 'object', properties: { n: { type: 'integer' } } };
  const ruled = (rule: string): JsonObject => ({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          nested: { type: 'object', properties: { in: { type: 'integer' }, 'x-y': { type: 'integer' } } },
          list: { type: 'array', items: item },
          map: { type: 'object', additionalProperties: item },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          size: { 'x-kubernetes-int-or-string': true },
        },
        'x-kubernetes-validations': [{ rule }],
      },
    },
  });

  it.each([
    'self.name == oldSelf.name',
    'self.nested.__in__ > 0 && self.nested.x__dash__y > 0',
    'self.list.all(item, item.n > 0) && self.list[0].n > 0',
    'self.list.map(typo, typo.n).exists(typo, typo > 0)',
    'self.map.k.n > 0 && self.map["k"].n > 0 && self.map.all(k, self.map[k].n > 0)',
    'self.free.anything.at.all == 1 && dyn(self.size) == 1',
    'has(self.name) && self.?name.hasValue()',
    '{"typo": 1}.typo == 1',
    'self.list.filter(x, x.n > 1)[0].n == 2',
  ])('takes the rule %s', (rule) => {
    const answer = new PipelineStore().send('POST', path, crd(ruled(rule)));
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  });

  it('completes the Service of a conversion webhook', () => {
    const clientConfig = { service: { namespace: 'ships', name: 'hook' } };
    const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } };
    const answer = new PipelineStore().send('POST', path, crd({ type: 'object' }, { conversion }));
    expect(answer.body['spec']).toMatchObject({
      conversion: { webhook: { clientConfig: { service: { ...clientConfig.service, port: 443 } } } },
    });
  });

  it('completes names', () => {
    expect(new PipelineStore().send('POST', path, crd({ type: 'object' })).body['spec']).toMatchObject({
      names: { singular: 'thing', listKind: 'ThingList' },
      conversion: { strategy: 'None' },
    });
  });

  it.each<{ name: string; body: unknown; message: RegExp }>([
    {
      name: 'a schema without types',
      body: crd({ type: 'object', properties: { a: {} } }),
      message: /properties.a.type: Required value: must not be empty for specified object fields/,
    },
    {
      name: 'a root that is no object',
      body: crd({ type: 'string' }),
      message: /must be object at the root/,
    },
    {
      name: 'a list without items',
      body: crd({ type: 'object', properties: { a: { type: 'array' } } }),
      message: /items: Required value: must be specified/,
    },
    {
      name: 'a pattern RE2 does not know',
      body: crd({ type: 'object', properties: { a: { type: 'string', pattern: '(?=x)' } } }),
      message: /must be a valid regular expression/,
    },
    {
      name: 'a rule that does not compile',
      body: crd({
        type: 'object',
        properties: { a: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self ==' }] } },
      }),
      message: /rule: Invalid value: "self ==": compilation failed/,
    },
    ...(
      [
        [{ rule: '1 + 1' }, /rule: Invalid value: "1 \+ 1": compilation failed: must evaluate to a bool/],
        [{ rule: ' ' }, /rule: Required value: rule is not specified/],
        [{ rule: 'true', messageExpression: '1 == 1' }, /must evaluate to a string/],
        [{ rule: 'true', reason: 'Because' }, /reason: Unsupported value: "Because"/],
        [{ rule: 'true', message: 'a\nb' }, /message must not contain line breaks/],
        [{ rule: 'true', optionalOldSelf: true }, /may not be set if oldSelf is not used in rule/],
        [
          { rule: 'self == oldSelf' },
          /oldSelf cannot be used on the uncorrelatable portion of the schema within .*properties.a$/,
        ],
      ] as const
    ).map(([rule, message]) => ({
      name: `the rule ${JSON.stringify(rule)}`,
      body: crd({
        type: 'object',
        properties: {
          a: { type: 'array', items: { type: 'string', 'x-kubernetes-validations': [rule] } },
        },
      }),
      message,
    })),
    ...[
      'self.typo > 1',
      'has(self.typo)',
      'self.list.all(item, item.typo == 1)',
      'self.list[0].typo == 1',
      'self.map["k"].typo == 1',
      'self.map.all(k, self.map[k].typo == 1)',
      'self.name == "" ? true : self.typo',
      'oldSelf.nested.typo == 1',
      'self.?typo.hasValue()',
    ].map((rule) => ({
      name: `the rule ${rule}`,
      body: crd(ruled(rule)),
      message: /undefined field 'typo'/,
    })),
    ...(
      [
        [{ type: 'integer', default: 'x' }, /default: Invalid value: .*must be of type integer/],
        [
          { type: 'object', properties: {}, default: { a: 1 } },
          /default: Invalid value: .*unknown field "a"/,
        ],
        [{ type: 'string', enum: ['a'], default: 'b' }, /default: Unsupported value: "b"/],
        [
          { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object' } },
          /x-kubernetes-map-type: Forbidden: must be atomic as item of a list with x-kubernetes-list-type=set/,
        ],
      ] as const
    ).map(([field, message]) => ({
      name: `the field ${JSON.stringify(field)}`,
      body: crd({ type: 'object', properties: { a: field } }),
      message,
    })),
    ...(
      [
        [
          { additionalPrinterColumns: [{ name: 'X', type: 'blob', jsonPath: '.a' }] },
          /additionalPrinterColumns\[0\].type: Unsupported value: "blob"/,
        ],
        [
          { additionalPrinterColumns: [{ name: 'X', type: 'string', jsonPath: 'a' }] },
          /jsonPath: Invalid value: "a": must be a simple json path starting with ./,
        ],
        [
          { subresources: { scale: { specReplicasPath: '.size', statusReplicasPath: '.status.size' } } },
          /specReplicasPath: Invalid value: ".size": should be a json path under .spec/,
        ],
        [
          { selectableFields: [{ jsonPath: '.spec.nope' }] },
          /selectableFields\[0\].jsonPath: Invalid value: ".spec.nope"/,
        ],
      ] as [JsonObject, RegExp][]
    ).map(([more, message]) => ({
      name: `a version with ${JSON.stringify(more)}`,
      body: crd(
        {},
        {
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object' } },
              ...more,
            },
          ],
        },
      ),
      message,
    })),
    {
      name: "a group of Kubernetes' own without approval",
      body: {
        ...(crd({ type: 'object' }, { group: 'things.k8s.io' }) as JsonObject),
        metadata: { name: 'things.things.k8s.io' },
      },
      message: /metadata.annotations\[api-approved.kubernetes.io\]: Required value: protected groups/,
    },
    {
      name: 'a keyed list without such a field',
      body: crd({
        type: 'object',
        properties: {
          a: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['n'],
            items: { type: 'object', properties: {} },
          },
        },
      }),
      message: /entries must all be names of item properties/,
    },
    {
      name: 'another name',
      body: { ...(crd({ type: 'object' }) as JsonObject), metadata: { name: 'x.example.com' } },
      message: /must be spec.names.plural\+"."\+spec.group/,
    },
    {
      name: 'no storage version',
      body: crd(
        { type: 'object' },
        {
          versions: [
            { name: 'v1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
          ],
        },
      ),
      message: /must have exactly one version marked as storage version/,
    },
    {
      name: 'an unknown scope',
      body: crd({ type: 'object' }, { scope: 'World' }),
      message: /spec.scope: Unsupported value: "World"/,
    },
  ])('refuses $name', ({ body, message }) => {
    const answer = new PipelineStore().send('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(422);
    expect(answer.body['message']).toMatch(message);
  });
});
