import type { LooseJson } from '../../../../packages/embedded-hub/test/loose-json.ts';
import type { Scenario, Step } from '../webhooks/scenario.ts';
import type { Bound } from './policy-scenario.ts';
import {
  BINDINGS,
  binding,
  checks,
  create,
  map,
  MAPS,
  POLICIES,
  policy,
  RULE,
  scenario,
} from './policy-scenario.ts';

const MAP_KIND = { apiVersion: 'v1', kind: 'ConfigMap' };
const LIMIT = checks('size(object.data) <= int(params.data.limit)', {
  messageExpression:
    "'limit of ' + params.metadata.name + ' in ' + params.metadata.namespace + ' is ' + params.data.limit",
});
/** Parameters are not checked themselves. */
const OBJECTS = {
  resourceRules: [{ ...RULE, operations: ['CREATE'] }],
  objectSelector: { matchExpressions: [{ key: 'param', operator: 'DoesNotExist' }] },
};
const bound = (paramRef: LooseJson, spec: LooseJson = {}): Bound => ({
  spec: { paramKind: MAP_KIND, ...LIMIT, ...spec },
  constraints: OBJECTS,
  bindings: [paramRef === undefined ? {} : { paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } }],
});
const param = (name: string, limit: string, labels: LooseJson = {}): Step => ({
  call: ['POST', MAPS],
  body: map(name, { limit }, { labels: { param: 'yes', ...labels } }),
  silent: true,
});
const elsewhere: readonly Step[] = [
  {
    call: ['POST', '/api/v1/namespaces'],
    body: { metadata: { name: 'policed-params' } },
    silent: true,
    until: () => true,
  },
  {
    call: ['POST', '/api/v1/namespaces/policed-params/configmaps'],
    body: map('limits', { limit: '1' }),
    silent: true,
    until: () => true,
  },
];
const two: readonly Step[] = [create('good'), create('bad', { a: 'b', c: 'd' })];

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const LIMITS = '/apis/params.example.com/v2/limits';
const LIMITS_DEFINITION: LooseJson = {
  metadata: { name: 'limits.params.example.com' },
  spec: {
    group: 'params.example.com',
    scope: 'Cluster',
    names: { plural: 'limits', kind: 'Limit' },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', properties: { most: { type: 'integer' } } } },
    })),
  },
};
const withLimits: readonly Step[] = [
  { call: ['POST', CRDS], body: LIMITS_DEFINITION, silent: true, until: () => true },
  { call: ['GET', LIMITS], silent: true, until: (_, status) => status === 200 },
  {
    call: ['POST', LIMITS],
    body: { apiVersion: 'params.example.com/v2', kind: 'Limit', metadata: { name: 'most' }, most: 1 },
    silent: true,
    until: () => true,
  },
];
const CUSTOM: Bound = {
  spec: {
    paramKind: { apiVersion: 'params.example.com/v2', kind: 'Limit' },
    ...checks('size(object.data) <= params.most', {
      messageExpression: "params.kind + ' ' + params.apiVersion + ' ' + string(params.most)",
    }),
  },
  bindings: [{ paramRef: { name: 'most', parameterNotFoundAction: 'Deny' } }],
};
/** A server may learn of a new kind only after half a minute. */
const knowsKind: Step = {
  ...create('probe', { a: 'b', c: 'd' }),
  silent: true,
  until: ({ message = '' }) =>
    !String(message).includes('failed to find resource') && !String(message).includes('not yet synced'),
};

/** Parameters: where they come from, and what happens where there are none. */
export const PARAM_SCENARIOS: readonly Scenario[] = [
  scenario('a parameter by name, in the namespace of the object', bound({ name: 'limits' }), [
    param('limits', '1'),
    ...two,
  ]),
  scenario(
    'a parameter by name, in a namespace of its own',
    bound({ name: 'limits', namespace: 'policed-params' }),
    [...elsewhere, ...two],
  ),
  scenario('parameters by labels', bound({ selector: { matchLabels: { size: 'small' } } }), [
    param('large', '5', { size: 'large' }),
    param('small', '1', { size: 'small' }),
    ...two,
  ]),
  scenario('several parameters', bound({ selector: { matchLabels: { param: 'yes' } } }), [
    param('large', '5'),
    param('small', '1'),
    ...two,
  ]),
  scenario('a parameter that is not there: Deny', bound({ name: 'nothing' }), two),
  scenario(
    'a parameter that is not there: Allow',
    bound({ name: 'nothing', parameterNotFoundAction: 'Allow' }),
    two,
  ),
  scenario(
    'a parameter that is not there: Deny, with failurePolicy Ignore',
    bound({ name: 'nothing' }, { failurePolicy: 'Ignore' }),
    two,
  ),
  scenario(
    'no parameter with such labels: Deny',
    bound({ selector: { matchLabels: { size: 'none' } } }),
    two,
  ),
  scenario(
    'no parameter with such labels: Allow',
    bound({ selector: { matchLabels: { size: 'none' } }, parameterNotFoundAction: 'Allow' }),
    two,
  ),
  scenario(
    'a binding without a parameter',
    bound(undefined, checks('params == null', { message: 'there is one' })),
    two,
  ),
  scenario('a binding without the parameter that is read', bound(undefined), two),
  scenario(
    'a parameter for a policy without any',
    {
      spec: checks('size(object.data) < 2'),
      bindings: [{ paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } }],
    },
    two,
  ),
  scenario(
    'params in matchConditions and variables',
    bound(
      { name: 'limits' },
      {
        matchConditions: [{ name: 'limited', expression: 'has(params.data.limit)' }],
        variables: [{ name: 'limit', expression: 'int(params.data.limit)' }],
        ...checks('size(object.data) <= variables.limit', { message: 'over the limit' }),
      },
    ),
    [param('limits', '1'), ...two],
  ),
  scenario('a parameter that changes', bound({ name: 'limits' }), [
    param('limits', '1'),
    create('bad', { a: 'b', c: 'd' }),
    { call: ['DELETE', `${MAPS}/limits`], silent: true },
    param('limits', '2'),
    { ...create('probe', { a: 'b', c: 'd' }), silent: true, until: (_, status) => status < 400 },
    create('bad', { a: 'b', c: 'd' }),
  ]),
  scenario(
    'a namespaced parameter for a cluster-scoped object',
    {
      spec: { paramKind: MAP_KIND, ...LIMIT },
      constraints: {
        resourceRules: [{ ...RULE, apiGroups: ['scheduling.k8s.io'], resources: ['priorityclasses'] }],
      },
      bindings: [{ paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } }],
    },
    [
      {
        call: ['POST', '/apis/scheduling.k8s.io/v1/priorityclasses'],
        body: { metadata: { name: 'policed' }, value: 5 },
      },
    ],
  ),
  scenario(
    'a cluster-scoped parameter',
    {
      spec: {
        paramKind: { apiVersion: 'v1', kind: 'Namespace' },
        ...checks("params.metadata.labels.team == 'sea'", {
          messageExpression: "params.kind + ' ' + params.metadata.labels.team",
        }),
      },
      bindings: [{ paramRef: { name: 'policed', parameterNotFoundAction: 'Deny' } }],
    },
    two,
  ),
  scenario(
    'a namespace for a cluster-scoped parameter',
    {
      spec: { paramKind: { apiVersion: 'v1', kind: 'Namespace' }, ...checks('true') },
      bindings: [{ paramRef: { name: 'policed', namespace: 'policed', parameterNotFoundAction: 'Deny' } }],
    },
    two,
  ),
  scenario(
    'a kind of parameters that is not there',
    {
      spec: { paramKind: { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing' }, ...checks('true') },
      bindings: [{ paramRef: { name: 'x', parameterNotFoundAction: 'Allow' } }],
    },
    two,
  ),
  scenario(
    'a kind of parameters that is not there, with failurePolicy Ignore',
    {
      spec: {
        paramKind: { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing' },
        failurePolicy: 'Ignore',
        ...checks('false'),
      },
      bindings: [{ paramRef: { name: 'x', parameterNotFoundAction: 'Allow' } }],
    },
    two,
  ),
  scenario('a custom parameter in another version', CUSTOM, [...withLimits, knowsKind, ...two]),
  scenario(
    'two bindings with a parameter each',
    {
      spec: { paramKind: MAP_KIND, ...LIMIT },
      constraints: OBJECTS,
      bindings: [
        { paramRef: { name: 'large', parameterNotFoundAction: 'Deny' } },
        { paramRef: { name: 'small', parameterNotFoundAction: 'Deny' }, validationActions: ['Warn'] },
      ],
    },
    [param('large', '5'), param('small', '1'), ...two],
  ),
  {
    name: 'policy: who may read parameters',
    steps: () => [
      {
        call: ['POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles'],
        body: {
          metadata: { name: 'policed' },
          rules: [
            { verbs: ['*'], apiGroups: ['admissionregistration.k8s.io'], resources: ['*'] },
            { verbs: ['get'], apiGroups: [''], resources: ['configmaps'] },
          ],
        },
        silent: true,
      },
      {
        call: ['POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'],
        body: {
          metadata: { name: 'policed' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'policed' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'carol' }],
        },
        silent: true,
      },
      {
        call: ['POST', `${POLICIES}?dryRun=All`],
        body: policy('mine', checks('true')),
        as: 'carol',
        silent: true,
        until: (_, status) => status === 201,
      },
      {
        call: ['POST', POLICIES],
        body: policy('mine', { paramKind: { apiVersion: 'v1', kind: 'Secret' }, ...checks('true') }),
        as: 'carol',
      },
      {
        call: ['POST', POLICIES],
        body: policy('mine', {
          paramKind: { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing' },
          ...checks('true'),
        }),
        as: 'carol',
      },
      {
        call: ['POST', POLICIES],
        body: policy('mine', { paramKind: MAP_KIND, ...checks('true') }),
        as: 'carol',
      },
      {
        call: ['POST', BINDINGS],
        body: binding('mine', 'mine', { paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } }),
        as: 'carol',
      },
      {
        call: ['POST', BINDINGS],
        body: binding('mine-too', 'mine', { paramRef: { selector: {}, parameterNotFoundAction: 'Deny' } }),
        as: 'carol',
      },
      {
        call: ['POST', BINDINGS],
        body: binding('mine-too', 'nobody', { paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } }),
        as: 'carol',
      },
      { call: ['DELETE', `${BINDINGS}/mine`], silent: true },
      { call: ['DELETE', `${POLICIES}/mine`], silent: true },
      { call: ['DELETE', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/policed'], silent: true },
      { call: ['DELETE', '/apis/rbac.authorization.k8s.io/v1/clusterroles/policed'], silent: true },
    ],
  },
];
