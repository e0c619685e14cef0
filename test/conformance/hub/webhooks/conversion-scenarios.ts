import type { LooseJson } from '../../../../packages/embedded-hub/test/loose-json.ts';
import type { Hook, HookServer } from '../../../fakes/hook-server.ts';
import type { Scenario, Step } from './scenario.ts';

const GROUP = 'ships.example.com';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CRD = `${CRDS}/boats.${GROUP}`;
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const APPLY = 'application/apply-patch+yaml';

const at = (version: string, name = ''): string =>
  `/apis/${GROUP}/${version}/namespaces/default/boats${name === '' ? '' : `/${name}`}`;

const TEXT = { type: 'string' };

/** v1 has `spec.size: "WxH"`, v2 has `spec.width` and `spec.height`. Both have a default that the other has not. */
const SCHEMAS: Record<string, LooseJson> = {
  v1: { size: TEXT, colour: { type: 'string', default: 'red' }, note: TEXT },
  v2: { width: TEXT, height: TEXT, flag: { type: 'string', default: 'none' }, note: TEXT },
};

interface Definition {
  readonly storage?: string;
  readonly clientConfig?: LooseJson;
  readonly reviewVersions?: readonly string[];
  readonly strategy?: 'None';
}

function definition(hook: HookServer, options: Definition = {}): LooseJson {
  const { storage = 'v1', reviewVersions = ['v1'], strategy } = options;
  const clientConfig = options.clientConfig ?? { url: `${hook.url}/convert`, caBundle: hook.caBundle };
  const webhook = { conversionReviewVersions: reviewVersions, clientConfig };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `boats.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'boats', singular: 'boat', kind: 'Boat', listKind: 'BoatList' },
      conversion: strategy === 'None' ? { strategy } : { strategy: 'Webhook', webhook },
      versions: ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: name === storage,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: SCHEMAS[name] },
              status: { type: 'object', properties: { state: TEXT } },
            },
          },
        },
        subresources: { status: {} },
        selectableFields: [{ jsonPath: name === 'v1' ? '.spec.size' : '.spec.width' }],
      })),
    },
  };
}

const boat = (version: string, name: string, spec: LooseJson): LooseJson => ({
  apiVersion: `${GROUP}/${version}`,
  kind: 'Boat',
  metadata: { name },
  spec,
});

function convertOne(object: LooseJson, apiVersion: string): LooseJson {
  const { size, width, height, colour: _colour, flag: _flag, ...spec } = object.spec ?? {};
  if (apiVersion.endsWith('/v2')) {
    const [w, h] = String(size ?? '').split('x');
    return { ...object, apiVersion, spec: { ...spec, ...(w && { width: w }), ...(h && { height: h }) } };
  }
  return { ...object, apiVersion, spec: { ...spec, size: `${width ?? ''}x${height ?? ''}` } };
}

type Change = (object: LooseJson) => LooseJson;

/** A webhook that converts well, and then changes each object. */
const converter =
  (change: Change = (object) => object): Hook =>
  ({ apiVersion, kind, request }) => {
    const { uid, objects, desiredAPIVersion } = request;
    const convertedObjects = objects.map((object: LooseJson) =>
      change(convertOne(object, desiredAPIVersion)),
    );
    const response = { uid, result: { status: 'Success' }, convertedObjects };
    return { review: { apiVersion, kind, response } };
  };

/** A webhook that converts well, and then answers something else. */
const lying =
  (change: (response: LooseJson, review: LooseJson) => LooseJson): Hook =>
  (review, path) => {
    const answer = converter()(review, path);
    return 'review' in answer ? { review: change(answer.review, review) } : answer;
  };

const metadataOf =
  (change: (metadata: LooseJson) => LooseJson): Change =>
  (object) => ({ ...object, metadata: change(object.metadata) });

function scenario(
  name: string,
  steps: (hook: HookServer) => readonly Step[],
  options: Definition = {},
): Scenario {
  return {
    name,
    withoutCalls: true,
    steps: (hook) => [
      { hook: converter() },
      { call: ['POST', CRDS], body: definition(hook, options), silent: true },
      { call: ['GET', at('v2')], until: (_body, status) => status === 200, silent: true },
      ...steps(hook),
      { hook: converter() },
      { call: ['DELETE', CRD], silent: true },
      { call: ['GET', CRD], until: (_body, status) => status === 404, silent: true },
    ],
  };
}

const made: Step = { call: ['POST', at('v1')], body: boat('v1', 'ada', { size: '2x3' }), silent: true };

/** Every way in which a webhook may be wrong, with what reading an object then answers. */
const FALSE_HOOKS: Record<string, Hook> = {
  'another name': converter(metadataOf((one) => ({ ...one, name: 'eve' }))),
  'another namespace': converter(metadataOf((one) => ({ ...one, namespace: 'other' }))),
  'another uid': converter(metadataOf((one) => ({ ...one, uid: 'x' }))),
  'another kind': converter((one) => ({ ...one, kind: 'Ship' })),
  'the same version': converter((one) => ({ ...one, apiVersion: `${GROUP}/v1` })),
  'no metadata': converter(({ metadata: _metadata, ...one }) => one),
  'metadata that is text': converter((one) => ({ ...one, metadata: 'x' })),
  'labels that are wrong': converter(metadataOf((one) => ({ ...one, labels: { 'a b': 'c' } }))),
  'labels that are numbers': converter(metadataOf((one) => ({ ...one, labels: { a: 1 } }))),
  'labels that are a list': converter(metadataOf((one) => ({ ...one, labels: [] }))),
  'annotations that are wrong': converter(metadataOf((one) => ({ ...one, annotations: { 'a b': 'c' } }))),
  'no kind': converter(({ kind: _kind, ...one }) => one),
  'a text as object': converter(() => 'text'),
  'a spec that is text': converter((one) => ({ ...one, spec: 'text' })),
  'no objects': lying((answer) => ({ ...answer, response: { ...answer.response, convertedObjects: [] } })),
  'two objects': lying((answer) => {
    const { convertedObjects } = answer.response;
    return {
      ...answer,
      response: { ...answer.response, convertedObjects: [...convertedObjects, ...convertedObjects] },
    };
  }),
  'no response': lying(({ response: _response, ...answer }) => answer),
  'another request': lying((answer) => ({ ...answer, response: { ...answer.response, uid: 'other' } })),
  'another review version': lying((answer) => ({ ...answer, apiVersion: 'apiextensions.k8s.io/v1beta1' })),
  'an unknown review': lying((answer) => ({ ...answer, apiVersion: 'example.com/v1' })),
  'a failure': lying((answer) => ({
    ...answer,
    response: { uid: answer.response.uid, result: { status: 'Failure', message: 'no boats today' } },
  })),
  'a failure without words': lying((answer) => ({
    ...answer,
    response: { uid: answer.response.uid, result: { status: 'Failure' } },
  })),
  'no result': lying((answer) => ({ ...answer, response: { ...answer.response, result: undefined } })),
  'not JSON': () => ({ status: 200, text: 'hello' }),
  nothing: () => ({ status: 200, text: '' }),
  'an error': () => ({ status: 500, text: 'out of order' }),
  'not found': () => ({ status: 404, text: 'no such page' }),
  'a redirect': () => ({ status: 302, text: '' }),
  forbidden: () => ({
    status: 403,
    text: '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not for you","reason":"Forbidden","code":403}',
  }),
};

/** What a webhook may change. */
const CHANGES: Record<string, Hook> = {
  'labels and annotations': converter(
    metadataOf((one) => ({ ...one, labels: { a: 'b' }, annotations: { c: 'd' } })),
  ),
  'the rest of the metadata': converter(
    metadataOf((one) => ({
      ...one,
      finalizers: ['example.com/x'],
      generation: 77,
      creationTimestamp: '2001-01-01T00:00:00Z',
      ownerReferences: [],
      resourceVersion: '1',
    })),
  ),
  'unknown fields': converter((one) => ({ ...one, extra: 1, spec: { ...one.spec, unknown: 'x' } })),
  'invalid fields': converter((one) => ({ ...one, spec: { ...one.spec, width: 7 } })),
};

const broken: Hook = () => ({ status: 500, text: 'out of order' });

export const CONVERSION_SCENARIOS: readonly Scenario[] = [
  scenario('conversion: reads and writes in both versions', () => [
    { call: ['POST', at('v1')], body: boat('v1', 'ada', { size: '2x3' }) },
    { call: ['GET', at('v1', 'ada')] },
    { call: ['GET', at('v2', 'ada')] },
    { call: ['POST', at('v2')], body: boat('v2', 'bob', { width: '4', height: '5' }) },
    { call: ['GET', at('v1', 'bob')] },
    { call: ['PATCH', at('v2', 'bob')], type: MERGE, body: { spec: { width: '9' } } },
    { call: ['PATCH', at('v2', 'bob')], type: MERGE, body: { spec: { width: '9' } } },
    {
      call: ['PATCH', at('v2', 'bob')],
      type: JSON_PATCH,
      body: [{ op: 'replace', path: '/spec/height', value: '8' }],
    },
    { call: ['PATCH', `${at('v2', 'bob')}/status`], type: MERGE, body: { status: { state: 'afloat' } } },
    { call: ['PATCH', `${at('v2', 'bob')}?dryRun=All`], type: MERGE, body: { spec: { width: '1' } } },
    { call: ['GET', at('v1', 'bob')] },
    { call: ['DELETE', at('v2', 'bob')] },
    { call: ['DELETE', at('v1', 'ada')] },
  ]),
  scenario('conversion: lists, watches and selectors', () => [
    made,
    { call: ['POST', at('v2')], body: boat('v2', 'bob', { width: '4', height: '5' }), silent: true },
    { call: ['GET', at('v2')] },
    { call: ['GET', `${at('v2')}?fieldSelector=spec.width%3D4`] },
    { call: ['GET', `${at('v1')}?fieldSelector=spec.size%3D2x3`] },
    { call: ['GET', `${at('v2')}?watch=true`], lines: 2 },
    { call: ['GET', `${at('v1')}?watch=true`], lines: 2 },
  ]),
  scenario('conversion: apply', () => [
    {
      call: ['PATCH', `${at('v2', 'ada')}?fieldManager=one`],
      type: APPLY,
      body: boat('v2', 'ada', { width: '2', height: '3' }),
    },
    {
      call: ['PATCH', `${at('v1', 'ada')}?fieldManager=two`],
      type: APPLY,
      body: boat('v1', 'ada', { note: 'n' }),
    },
    {
      call: ['PATCH', `${at('v1', 'ada')}?fieldManager=two`],
      type: APPLY,
      body: boat('v1', 'ada', { size: '7x7' }),
    },
    {
      call: ['PATCH', `${at('v2', 'ada')}?fieldManager=two`],
      type: APPLY,
      body: boat('v2', 'ada', { width: '8' }),
    },
    {
      call: ['PATCH', `${at('v2', 'ada')}?fieldManager=one`],
      type: APPLY,
      body: boat('v2', 'ada', { width: '2' }),
    },
    { call: ['GET', at('v1', 'ada')] },
    {
      call: ['PATCH', `${at('v2', 'ada')}?fieldManager=two&force=true`],
      type: APPLY,
      body: boat('v2', 'ada', { width: '8' }),
    },
    { call: ['GET', at('v2', 'ada')] },
  ]),
  ...Object.entries(FALSE_HOOKS).map(([lie, hook]) =>
    scenario(`conversion: a webhook that answers with ${lie}`, () => [
      made,
      { hook },
      { call: ['GET', at('v2', 'ada')] },
    ]),
  ),
  ...Object.entries(CHANGES).map(([change, hook]) =>
    scenario(`conversion: a webhook that changes ${change}`, () => [
      made,
      { hook },
      { call: ['GET', at('v2', 'ada')] },
      { call: ['POST', at('v2')], body: boat('v2', 'bob', { width: '4', height: '5' }) },
      { call: ['GET', at('v1', 'bob')] },
    ]),
  ),
  scenario('conversion: a webhook that is out of order', () => [
    made,
    { hook: broken },
    { call: ['GET', at('v1', 'ada')] },
    { call: ['GET', at('v1')] },
    { call: ['POST', at('v1')], body: boat('v1', 'eve', {}) },
    { call: ['POST', at('v2')], body: boat('v2', 'bob', { width: '4', height: '5' }) },
    { call: ['PATCH', at('v2', 'ada')], type: MERGE, body: { spec: { width: '9' } } },
    { call: ['PUT', at('v2', 'ada')], body: boat('v2', 'ada', {}) },
    {
      call: ['PATCH', `${at('v2', 'ada')}?fieldManager=one`],
      type: APPLY,
      body: boat('v2', 'ada', { width: '2' }),
    },
    { call: ['DELETE', at('v2', 'ada')] },
    { call: ['DELETE', at('v1', 'eve')] },
  ]),
  scenario('conversion: where nothing listens', () => [made, { call: ['GET', at('v2', 'ada')] }], {
    clientConfig: { url: 'https://127.0.0.1:1/convert' },
  }),
  {
    name: 'conversion: with the authority of somebody else',
    withoutCalls: true,
    steps: (hook) =>
      scenario('', () => [made, { call: ['GET', at('v2', 'ada')] }], {
        clientConfig: { url: `${hook.url}/convert`, caBundle: hook.wrongCaBundle },
      }).steps(hook),
  },
  {
    name: 'conversion: through a Service',
    withoutCalls: true,
    steps: (hook) => {
      const service = { namespace: 'default', name: 'hook', path: '/by-service', port: hook.port };
      const options = { clientConfig: { service, caBundle: hook.caBundle } };
      const external = {
        metadata: { name: 'hook' },
        spec: { type: 'ExternalName', externalName: 'localhost' },
      };
      return [
        { call: ['POST', '/api/v1/namespaces/default/services'], body: external, silent: true },
        ...scenario('', () => [made, { call: ['GET', at('v2', 'ada')] }], options).steps(hook),
        { call: ['DELETE', '/api/v1/namespaces/default/services/hook'], silent: true },
      ];
    },
  },
  scenario(
    'conversion: through a Service that is not there',
    () => [made, { call: ['GET', at('v2', 'ada')] }],
    {
      clientConfig: { service: { namespace: 'default', name: 'absent', path: '/x' } },
    },
  ),
  scenario('conversion: by an older review', () => [made, { call: ['GET', at('v2', 'ada')] }], {
    reviewVersions: ['v9', 'v1beta1', 'v1'],
  }),
  scenario('conversion: after another storage version', (hook) => [
    made,
    { call: ['GET', CRD], until: (_body, status) => status === 200, silent: true },
    {
      call: ['PATCH', CRD],
      type: JSON_PATCH,
      body: definition(hook, { storage: 'v2' }).spec.versions.map((version: LooseJson, index: number) => ({
        op: 'replace',
        path: `/spec/versions/${String(index)}/storage`,
        value: version.storage,
      })),
      silent: true,
    },
    { call: ['GET', at('v1', 'ada')] },
    { call: ['GET', at('v2', 'ada')] },
    { call: ['PATCH', at('v1', 'ada')], type: MERGE, body: { spec: { note: 'moved' } } },
    { call: ['GET', at('v2', 'ada')] },
  ]),
  {
    name: 'conversion: definitions that are refused',
    steps: (hook) =>
      [
        { clientConfig: {} },
        { clientConfig: { url: 'http://example.com/convert' } },
        { clientConfig: { url: 'https://user@example.com/convert?x=y#z' } },
        { clientConfig: { url: 'https:///convert' } },
        { clientConfig: { url: ':::' } },
        { clientConfig: { url: hook.url, service: { namespace: 'a', name: 'b' } } },
        { clientConfig: { service: { namespace: '', name: '' } } },
        { clientConfig: { service: { namespace: 'a', name: 'b', path: 'x//y', port: 70_000 } } },
        { reviewVersions: [] },
        { reviewVersions: ['v3'] },
        { reviewVersions: ['v1', 'v1', 'X'] },
      ].flatMap((options): Step[] => [
        { call: ['POST', CRDS], body: definition(hook, options) },
        { call: ['DELETE', CRD], silent: true },
      ]),
  },
];
