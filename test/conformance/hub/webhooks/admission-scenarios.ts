import type { Hook, HookServer } from '../../../fakes/hook-server.ts';
import type { LooseJson } from '../../../../packages/embedded-hub/test/loose-json.ts';
import type { Scenario, Step } from './scenario.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const MUTATING = `${GROUP}/mutatingwebhookconfigurations`;
const VALIDATING = `${GROUP}/validatingwebhookconfigurations`;
const MAPS = '/api/v1/namespaces/admit/configmaps';
const MERGE = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

const map = (name: string, data: LooseJson = { a: 'b' }, metadata: LooseJson = {}): LooseJson => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

type Patch = readonly LooseJson[];

/** What each path answers, a response or a Hook; the others allow. */
type Answers = Readonly<Record<string, LooseJson>>;

const allow = (response: LooseJson = {}): LooseJson => ({ allowed: true, ...response });
const deny = (status?: LooseJson): LooseJson => ({
  allowed: false,
  ...(status && { status }),
});
const patch = (operations: Patch): LooseJson =>
  allow({ patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') });
const add = (path: string, value: LooseJson): LooseJson => ({ op: 'add', path, value });

function answering(answers: Answers): Hook {
  return (review, path) => {
    const known = answers[path.split('?')[0] ?? ''] ?? allow();
    if (typeof known === 'function') return (known as Hook)(review, path);
    const { apiVersion, kind, request } = review;
    return { review: { apiVersion, kind, response: { uid: request.uid, ...known } } };
  };
}

interface WebhookOptions {
  readonly path: string;
  readonly over?: LooseJson;
}

const RULE = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };

function webhook(hook: HookServer, { path, over = {} }: WebhookOptions): LooseJson {
  return {
    name: `${path.slice(1)}.hooks.example.com`,
    clientConfig: { url: `${hook.url}${path}`, caBundle: hook.caBundle },
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    rules: [RULE],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'admit' } },
    ...over,
  };
}

const configuration = (kind: string, name: string, webhooks: readonly LooseJson[]): LooseJson => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name },
  webhooks,
});

interface Hooks {
  readonly mutating?: readonly WebhookOptions[];
  readonly validating?: readonly WebhookOptions[];
}

function scenario(name: string, hooks: Hooks, steps: readonly Step[]): Scenario {
  const { mutating = [], validating = [] } = hooks;
  return {
    name: `admission: ${name}`,
    ...(validating.length > 1 && { atOnce: true }),
    steps: (hook) => {
      const of = (options: readonly WebhookOptions[]): LooseJson[] =>
        options.map((one) => webhook(hook, one));
      const mutatingBody = configuration('MutatingWebhookConfiguration', 'hooks', of(mutating));
      const validatingBody = configuration('ValidatingWebhookConfiguration', 'hooks', of(validating));
      return [
        { hook: answering({}) },
        {
          call: ['POST', '/api/v1/namespaces'],
          body: { metadata: { name: 'admit' } },
          silent: true,
          until: () => true,
        },
        ...(mutating.length > 0
          ? [{ call: ['POST', MUTATING], body: mutatingBody, silent: true } as const]
          : []),
        ...(validating.length > 0
          ? [{ call: ['POST', VALIDATING], body: validatingBody, silent: true } as const]
          : []),
        ...steps,
        { call: ['DELETE', `${MUTATING}/hooks`], silent: true },
        { call: ['DELETE', `${VALIDATING}/hooks`], silent: true },
        { call: ['DELETE', MAPS], silent: true },
      ];
    },
  };
}

const create = (name: string, data?: LooseJson): Step => ({ call: ['POST', MAPS], body: map(name, data) });

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const boatsAt = (version: string): string => `/apis/equal.example.com/${version}/namespaces/admit/boats`;
const BOATS = { ...RULE, apiGroups: ['equal.example.com'], resources: ['boats'] };
const TWO_VERSIONS: LooseJson = {
  metadata: { name: 'boats.equal.example.com' },
  spec: {
    group: 'equal.example.com',
    scope: 'Namespaced',
    names: { plural: 'boats', kind: 'Boat' },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'string' } } } },
    })),
  },
};

const order: Hooks = { mutating: [{ path: '/first' }, { path: '/second' }] };

/** One webhook that answers wrongly, asked as mutating and as validating. */
const FALSE_ANSWERS: Readonly<Record<string, LooseJson>> = {
  'no uid': allow({ uid: '' }),
  'another uid': allow({ uid: 'x' }),
  'no response': (review: LooseJson) => ({ review: { ...review, response: undefined } }),
  'another version': (review: LooseJson) => ({
    review: {
      apiVersion: 'admission.k8s.io/v1beta1',
      kind: 'AdmissionReview',
      response: { uid: review.request.uid, allowed: true },
    },
  }),
  'a patch without a type': allow({
    patch: Buffer.from('[{"op":"add","path":"/x","value":1}]').toString('base64'),
  }),
  'a type without a patch': allow({ patchType: 'JSONPatch' }),
  'a patch of another type': allow({
    patchType: 'Other',
    patch: Buffer.from('[{"op":"add","path":"/x","value":1}]').toString('base64'),
  }),
  'an error': () => ({ status: 500, text: 'out of order' }),
  'not found': () => ({ status: 404, text: 'nothing here' }),
};

const DENIALS: Readonly<Record<string, LooseJson>> = {
  'without a word': deny(),
  'under another key': { allowed: false, result: { message: 'not here' } },
  'with a message': deny({ message: 'not today' }),
  'with a reason': deny({ reason: 'Because' }),
  'with a code': deny({ code: 418, message: 'no tea', reason: 'Teapot' }),
  'with a code below 400': deny({ code: 200, status: 'Success', message: 'fine' }),
  'with details': deny({
    code: 422,
    reason: 'Invalid',
    message: 'bad',
    details: { name: 'n', group: 'g', kind: 'k', causes: [{ reason: 'r', message: 'm', field: 'f' }] },
  }),
};

export const ADMISSION_SCENARIOS: readonly Scenario[] = [
  scenario('what is asked', { mutating: [{ path: '/mutate' }], validating: [{ path: '/validate' }] }, [
    create('one'),
    { call: ['POST', `${MAPS}?fieldManager=me&fieldValidation=Strict`], body: map('two') },
    {
      call: ['POST', MAPS],
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'generated-' } },
    },
    { call: ['PUT', `${MAPS}/one`], body: map('one', { a: 'c' }) },
    { call: ['PATCH', `${MAPS}/one`], type: MERGE, body: { data: { a: 'd' } } },
    { call: ['PATCH', `${MAPS}/one`], type: MERGE, body: { data: { a: 'd' } } },
    { call: ['PATCH', `${MAPS}/three?fieldManager=me`], type: APPLY, body: map('three') },
    { call: ['PATCH', `${MAPS}/three?fieldManager=me`], type: APPLY, body: map('three', { a: 'z' }) },
    {
      call: ['DELETE', `${MAPS}/one`],
      body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' },
    },
    { call: ['DELETE', `${MAPS}/two`] },
    { call: ['GET', `${MAPS}/three`] },
  ]),
  scenario('patches in order', order, [
    {
      hook: answering({
        '/first': patch([add('/data/first', '1')]),
        '/second': patch([add('/data/second', '2'), add('/metadata/labels', { a: 'b' })]),
      }),
    },
    create('one'),
    { call: ['PUT', `${MAPS}/one`], body: map('one', { x: 'y' }) },
    { call: ['PATCH', `${MAPS}/one?dryRun=All`], type: MERGE, body: { data: { d: 'r' } } },
  ]),
  scenario(
    'called again when a later one changes something',
    {
      mutating: [
        { path: '/first', over: { reinvocationPolicy: 'IfNeeded' } },
        { path: '/second' },
        { path: '/third', over: { reinvocationPolicy: 'IfNeeded' } },
      ],
    },
    [
      { hook: answering({ '/second': patch([add('/data/second', '2')]) }) },
      create('one'),
      { hook: answering({ '/third': patch([add('/data/third', '3')]) }) },
      create('two'),
      { hook: answering({ '/first': patch([add('/data/first', '1')]) }) },
      create('three'),
      { hook: answering({}) },
      create('four'),
    ],
  ),
  scenario('a patch that changes what may not be changed', { mutating: [{ path: '/mutate' }] }, [
    {
      hook: answering({ '/mutate': patch([add('/unknown', 1)]) }),
    },
    create('one'),
    { call: ['PATCH', `${MAPS}/one`], type: MERGE, body: { data: { a: 'd' } } },
    { hook: answering({ '/mutate': patch([add('/metadata/namespace', 'default')]) }) },
    create('two'),
    { hook: answering({ '/mutate': patch([add('/data/bad key', 'x')]) }) },
    create('three'),
    { hook: answering({ '/mutate': patch([{ op: 'remove', path: '/nothing' }]) }) },
    create('four'),
  ]),
  ...Object.entries(DENIALS).map(([name, answer]) =>
    scenario(`a denial ${name}`, { validating: [{ path: '/validate' }] }, [
      { hook: answering({ '/validate': answer }) },
      create('one'),
    ]),
  ),
  scenario(
    'a denial of the mutating one',
    { mutating: [{ path: '/mutate' }], validating: [{ path: '/validate' }] },
    [{ hook: answering({ '/mutate': deny({ message: 'no' }) }) }, create('one')],
  ),
  scenario(
    'a denial of deletions',
    { validating: [{ path: '/validate', over: { rules: [{ ...RULE, operations: ['DELETE'] }] } }] },
    [
      { hook: answering({ '/validate': deny({ message: 'keep it' }) }) },
      create('one'),
      { call: ['DELETE', `${MAPS}/one`] },
      { call: ['DELETE', `${MAPS}?fieldSelector=metadata.name%3Done`] },
      { hook: answering({}) },
    ],
  ),
  ...Object.entries(FALSE_ANSWERS).flatMap(([name, answer]) => [
    scenario(`an answer with ${name}, mutating`, { mutating: [{ path: '/mutate' }] }, [
      { hook: answering({ '/mutate': answer }) },
      create('one'),
    ]),
    scenario(`an answer with ${name}, validating`, { validating: [{ path: '/validate' }] }, [
      { hook: answering({ '/validate': answer }) },
      create('one'),
    ]),
  ]),
  scenario(
    'failures that are ignored',
    {
      mutating: [{ path: '/mutate', over: { failurePolicy: 'Ignore' } }],
      validating: [{ path: '/validate', over: { failurePolicy: 'Ignore' } }],
    },
    [
      { hook: () => ({ status: 500, text: 'out of order' }) },
      create('one'),
      { hook: answering({ '/validate': deny({ message: 'still no' }) }) },
      create('two'),
    ],
  ),
  scenario(
    'where nothing listens',
    { validating: [{ path: '/validate', over: { clientConfig: { url: 'https://127.0.0.1:1/x' } } }] },
    [create('one')],
  ),
  scenario('too slow', { validating: [{ path: '/validate', over: { timeoutSeconds: 1 } }] }, [
    { hook: () => ({ hangs: true }) },
    create('one'),
  ]),
  scenario('warnings', { mutating: [{ path: '/mutate' }], validating: [{ path: '/validate' }] }, [
    {
      hook: answering({
        '/mutate': allow({ warnings: ['from "mutate"'] }),
        '/validate': allow({ warnings: ['one', 'two'], auditAnnotations: { a: 'b' } }),
      }),
    },
    create('one'),
    { call: ['DELETE', `${MAPS}/one`] },
  ]),
  scenario(
    'rules',
    {
      validating: [
        {
          path: '/cluster',
          over: { rules: [{ ...RULE, scope: 'Cluster', resources: ['*'] }], namespaceSelector: {} },
        },
        { path: '/namespaced', over: { rules: [{ ...RULE, scope: 'Namespaced', resources: ['*'] }] } },
        { path: '/status', over: { rules: [{ ...RULE, resources: ['*/status'] }] } },
        { path: '/updates', over: { rules: [{ ...RULE, operations: ['UPDATE'] }] } },
        { path: '/other', over: { rules: [{ ...RULE, apiGroups: ['apps'] }] } },
        { path: '/selected', over: { objectSelector: { matchLabels: { chosen: 'yes' } } } },
        {
          path: '/elsewhere',
          over: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } },
        },
      ],
    },
    [
      create('one'),
      { call: ['PATCH', `${MAPS}/one`], type: MERGE, body: { metadata: { labels: { chosen: 'yes' } } } },
      { call: ['PATCH', `${MAPS}/one`], type: MERGE, body: { metadata: { labels: null } } },
      {
        call: ['PATCH', '/api/v1/namespaces/admit'],
        type: MERGE,
        body: { metadata: { labels: { x: 'y' } } },
      },
    ],
  ),
  scenario(
    'conditions',
    {
      validating: [
        { path: '/true', over: { matchConditions: [{ name: 'a', expression: 'object.data.a == "b"' }] } },
        {
          path: '/false',
          over: { matchConditions: [{ name: 'a', expression: 'request.operation == "DELETE"' }] },
        },
        {
          path: '/user',
          over: {
            matchConditions: [
              { name: 'a', expression: '"system:masters" in request.userInfo.groups && oldObject == null' },
            ],
          },
        },
        {
          path: '/mixed',
          over: {
            matchConditions: [
              { name: 'a', expression: 'object.data.missing == "b"' },
              { name: 'b', expression: 'false' },
            ],
          },
        },
        {
          path: '/open',
          over: {
            failurePolicy: 'Ignore',
            matchConditions: [{ name: 'a', expression: 'object.data.missing == "b"' }],
          },
        },
      ],
    },
    [create('one')],
  ),
  scenario(
    'conditions with an authorizer',
    {
      validating: [
        {
          path: '/allowed',
          over: {
            matchConditions: [
              { name: 'a', expression: "authorizer.requestResource.check('create').allowed()" },
              { name: 'b', expression: "authorizer.path('/healthz').check('get').allowed()" },
            ],
          },
        },
        {
          path: '/robot',
          over: {
            matchConditions: [
              {
                name: 'a',
                expression:
                  "authorizer.serviceAccount('admit', 'robot').group('').resource('pods').check('get').allowed()",
              },
            ],
          },
        },
      ],
    },
    [create('one')],
  ),
  scenario(
    'conditions that fail',
    {
      validating: [
        {
          path: '/validate',
          over: { matchConditions: [{ name: 'a', expression: 'object.data.missing == "b"' }] },
        },
      ],
    },
    [create('one')],
  ),
  scenario(
    'an older review',
    { mutating: [{ path: '/mutate', over: { admissionReviewVersions: ['v9', 'v1beta1'] } }] },
    [
      {
        hook: answering({
          '/mutate': allow({
            patch: Buffer.from('[{"op":"add","path":"/data/x","value":"y"}]').toString('base64'),
          }),
        }),
      },
      create('one'),
    ],
  ),
  scenario(
    'equivalent versions',
    {
      validating: [
        { path: '/equivalent', over: { rules: [BOATS] } },
        { path: '/exact', over: { rules: [BOATS], matchPolicy: 'Exact' } },
      ],
    },
    [
      { call: ['POST', CRDS], body: TWO_VERSIONS, silent: true },
      { call: ['GET', boatsAt('v2')], until: (_body, status) => status === 200, silent: true },
      {
        call: ['POST', boatsAt('v2')],
        body: { apiVersion: 'equal.example.com/v2', kind: 'Boat', metadata: { name: 'one' }, spec: 'x' },
      },
      { call: ['PATCH', `${boatsAt('v2')}/one`], type: MERGE, body: { spec: 'y' } },
      { call: ['DELETE', `${boatsAt('v1')}/one`] },
      { call: ['DELETE', `${CRDS}/boats.equal.example.com`], silent: true },
    ],
  ),
  {
    name: 'admission: configurations that are refused',
    steps: (hook) =>
      (
        [
          { name: 'short' },
          { name: '' },
          { sideEffects: undefined },
          { sideEffects: 'Some' },
          { admissionReviewVersions: [] },
          { admissionReviewVersions: ['v7'] },
          { timeoutSeconds: 31 },
          { failurePolicy: 'Maybe' },
          { matchPolicy: 'Roughly' },
          { clientConfig: {} },
          { clientConfig: { url: 'http://example.com' } },
          { rules: [{ ...RULE, operations: ['*', 'CREATE'] }] },
          { rules: [{ ...RULE, operations: ['READ'], apiGroups: [] }] },
          { rules: [{ ...RULE, resources: ['*', 'pods'], scope: 'Planet' }] },
          { rules: [{ ...RULE, resources: ['*/*', 'pods/*', 'pods/status'] }] },
          { matchConditions: [{ name: '', expression: '' }] },
          { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } },
          { reinvocationPolicy: 'Often' },
        ] as readonly LooseJson[]
      ).map((over): Step => {
        const body = configuration('MutatingWebhookConfiguration', 'refused', [
          webhook(hook, { path: '/x', over }),
        ]);
        return { call: ['POST', MUTATING], body };
      }),
  },
  {
    name: 'admission: a configuration as it is stored',
    steps: (hook) => {
      const service = { clientConfig: { service: { namespace: 'a', name: 'b' } } };
      const hooks = [webhook(hook, { path: '/x', over: { ...service, namespaceSelector: undefined } })];
      return [
        { call: ['POST', MUTATING], body: configuration('MutatingWebhookConfiguration', 'stored', hooks) },
        { call: ['DELETE', `${MUTATING}/stored`] },
        {
          call: ['POST', VALIDATING],
          body: configuration('ValidatingWebhookConfiguration', 'stored', hooks),
        },
        { call: ['DELETE', `${VALIDATING}/stored`] },
      ];
    },
  },
];
