import type { LooseJson } from '../../../../packages/embedded-hub/test/loose-json.ts';
import type { Scenario, Step } from '../webhooks/scenario.ts';
import {
  BINDINGS,
  binding,
  checks,
  create,
  HERE,
  map,
  MAPS,
  MERGE,
  POLICIES,
  policy,
  RULE,
  scenario,
} from './policy-scenario.ts';

const NO = checks('false', { message: 'no' });
const LABELLED = { labels: { strict: 'yes' } };
const label = (name: string): Step => create(name, undefined, LABELLED);

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/policed/deployments';
const boatsAt = (version: string): string => `/apis/policed.example.com/${version}/namespaces/policed/boats`;
const boat = (version: string, name: string): LooseJson => ({
  apiVersion: `policed.example.com/${version}`,
  kind: 'Boat',
  metadata: { name },
  spec: { crew: 3 },
});
const BOATS_DEFINITION: LooseJson = {
  metadata: { name: 'boats.policed.example.com' },
  spec: {
    group: 'policed.example.com',
    scope: 'Namespaced',
    names: { plural: 'boats', kind: 'Boat' },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.crew', statusReplicasPath: '.status.crew' },
      },
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties: { crew: { type: 'integer' } } },
            status: { type: 'object', properties: { crew: { type: 'integer' } } },
          },
        },
      },
    })),
  },
};
const boats = (more: LooseJson): LooseJson => ({
  resourceRules: [{ ...RULE, apiGroups: ['policed.example.com'], resources: ['boats'], ...more }],
  namespaceSelector: HERE,
});
const withBoats: readonly Step[] = [
  { call: ['POST', CRDS], body: BOATS_DEFINITION, silent: true, until: () => true },
  { call: ['GET', boatsAt('v2')], silent: true, until: (_, status) => status === 200 },
  { call: ['DELETE', `${boatsAt('v1')}/ada`], silent: true },
];
const deployment: LooseJson = {
  metadata: { name: 'web' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};
const deployments = (...resources: readonly string[]): LooseJson => ({
  resourceRules: [{ ...RULE, apiGroups: ['apps'], operations: ['UPDATE'], resources }],
});
const scaleTo = (replicas: number): Step => ({
  call: ['PATCH', `${DEPLOYMENTS}/web/scale`],
  body: { spec: { replicas } },
  type: MERGE,
});

/** Which writes a policy and its bindings are about. */
export const MATCH_SCENARIOS: readonly Scenario[] = [
  scenario(
    'operations',
    { spec: NO, constraints: { resourceRules: [{ ...RULE, operations: ['UPDATE'] }] } },
    [create('made'), { call: ['PATCH', `${MAPS}/made`], body: { data: { x: 'y' } }, type: MERGE }],
  ),
  scenario(
    'other resources',
    { spec: NO, constraints: { resourceRules: [{ ...RULE, resources: ['secrets'] }] } },
    [create('made')],
  ),
  scenario(
    'a rule for cluster-scoped objects',
    { spec: NO, constraints: { resourceRules: [{ ...RULE, scope: 'Cluster' }] } },
    [create('made')],
  ),
  scenario(
    'names of objects',
    { spec: NO, constraints: { resourceRules: [{ ...RULE, resourceNames: ['bad', 'worse'] }] } },
    [create('good'), create('worse')],
  ),
  scenario(
    'an excluded rule',
    { spec: NO, constraints: { excludeResourceRules: [{ ...RULE, resourceNames: ['good'] }] } },
    [create('good'), create('bad')],
  ),
  scenario(
    'an objectSelector',
    { spec: NO, constraints: { objectSelector: { matchLabels: LABELLED.labels } } },
    [
      create('good'),
      label('bad'),
      { call: ['PATCH', `${MAPS}/good`], body: { metadata: LABELLED }, type: MERGE },
    ],
  ),
  scenario(
    'a namespaceSelector',
    { spec: NO, constraints: { namespaceSelector: { matchLabels: { team: 'sea' } } } },
    [create('good')],
  ),
  scenario(
    'matchResources of a binding',
    { spec: NO, bindings: [{ matchResources: { objectSelector: { matchLabels: LABELLED.labels } } }] },
    [create('good'), label('bad')],
  ),
  scenario(
    'rules of a binding',
    { spec: NO, bindings: [{ matchResources: { resourceRules: [{ ...RULE, operations: ['UPDATE'] }] } }] },
    [create('made'), { call: ['PATCH', `${MAPS}/made`], body: { data: { x: 'y' } }, type: MERGE }],
  ),
  scenario(
    'an excluded rule of a binding',
    {
      spec: NO,
      bindings: [{ matchResources: { excludeResourceRules: [{ ...RULE, resourceNames: ['good'] }] } }],
    },
    [create('good'), create('bad')],
  ),
  scenario('no binding', { spec: NO, bindings: [] }, [create('free')]),
  scenario('a binding of another policy', { spec: NO, bindings: [{ policyName: 'nobody' }] }, [
    create('free'),
  ]),
  scenario(
    'another version',
    {
      spec: checks('false', {
        messageExpression:
          "object.apiVersion + ' ' + request.kind.version + ' ' + request.resource.version + ' ' + request.requestKind.version",
      }),
      constraints: boats({}),
    },
    [
      ...withBoats,
      { call: ['POST', boatsAt('v2')], body: boat('v2', 'ada') },
      { call: ['POST', boatsAt('v1')], body: boat('v1', 'ada') },
    ],
  ),
  scenario(
    'another version where it must be exact',
    { spec: NO, constraints: { ...boats({}), matchPolicy: 'Exact' } },
    [
      ...withBoats,
      { call: ['POST', boatsAt('v2')], body: boat('v2', 'ada') },
      { call: ['PATCH', `${boatsAt('v1')}/ada`], body: { spec: { crew: 4 } }, type: MERGE },
    ],
  ),
  scenario(
    'an excluded rule in another version',
    {
      spec: NO,
      constraints: {
        ...boats({ apiVersions: ['*'] }),
        excludeResourceRules: boats({ apiVersions: ['v1'], resourceNames: ['ada'] }).resourceRules,
      },
    },
    [
      ...withBoats,
      { call: ['POST', boatsAt('v2')], body: boat('v2', 'ada') },
      { call: ['POST', boatsAt('v2')], body: boat('v2', 'bob') },
    ],
  ),
  scenario(
    'the status of a custom resource',
    {
      spec: checks('!has(object.status) || object.status.crew < 3', { message: 'too many' }),
      constraints: boats({ resources: ['boats/status'] }),
    },
    [
      ...withBoats,
      { call: ['POST', boatsAt('v1')], body: boat('v1', 'ada') },
      { call: ['PATCH', `${boatsAt('v1')}/ada/status`], body: { status: { crew: 2 } }, type: MERGE },
      { call: ['PATCH', `${boatsAt('v1')}/ada/status`], body: { status: { crew: 3 } }, type: MERGE },
      { call: ['DELETE', `${boatsAt('v1')}/ada`] },
    ],
  ),
  scenario(
    'a scale',
    {
      spec: checks('object.spec.replicas < 3', {
        messageExpression:
          "object.kind + ' ' + string(oldObject.spec.replicas) + ' to ' + string(object.spec.replicas) + ' ' + request.subResource + ' ' + request.kind.kind",
      }),
      constraints: deployments('deployments/scale'),
    },
    [
      { call: ['POST', DEPLOYMENTS], body: deployment, silent: true },
      { ...scaleTo(2), silent: true },
      scaleTo(3),
      { call: ['DELETE', `${DEPLOYMENTS}/web`], silent: true },
    ],
  ),
  scenario('a resource without its subresources', { spec: NO, constraints: deployments('deployments') }, [
    { call: ['POST', DEPLOYMENTS], body: deployment, silent: true },
    { ...scaleTo(2), silent: true },
    { call: ['PATCH', `${DEPLOYMENTS}/web`], body: { spec: { replicas: 5 } }, type: MERGE },
    { call: ['DELETE', `${DEPLOYMENTS}/web`], silent: true },
  ]),
  scenario(
    'defaults of objects',
    {
      spec: checks(
        'object.spec.replicas == 1 && object.spec.strategy.type == "RollingUpdate" && object.spec.template.spec.restartPolicy != "Always"',
        { message: 'defaulted' },
      ),
      constraints: { resourceRules: [{ ...RULE, apiGroups: ['apps'], resources: ['deployments'] }] },
    },
    [
      {
        call: ['POST', DEPLOYMENTS],
        body: { ...deployment, spec: { ...deployment.spec, replicas: undefined } },
      },
    ],
  ),
  scenario(
    'a namespace',
    {
      spec: checks('namespaceObject == null && request.namespace == request.name', {
        message: 'as expected',
      }),
      constraints: {
        namespaceSelector: { matchLabels: { policed: 'yes' } },
        resourceRules: [{ ...RULE, operations: ['CREATE', 'UPDATE'], resources: ['namespaces'] }],
      },
    },
    [
      {
        call: ['POST', '/api/v1/namespaces'],
        body: { metadata: { name: 'policed-two', labels: { policed: 'yes' } } },
        silent: true,
        until: () => true,
      },
      {
        call: ['PATCH', '/api/v1/namespaces/policed-two'],
        body: { metadata: { labels: { policed: 'no', x: 'y' } } },
        type: MERGE,
        silent: true,
      },
    ],
  ),
  scenario(
    'a cluster-scoped object',
    {
      spec: checks('namespaceObject != null', { messageExpression: 'string(has(request.namespace))' }),
      constraints: {
        resourceRules: [{ ...RULE, apiGroups: ['scheduling.k8s.io'], resources: ['priorityclasses'] }],
      },
    },
    [
      {
        call: ['POST', '/apis/scheduling.k8s.io/v1/priorityclasses'],
        body: { metadata: { name: 'policed' }, value: 5 },
      },
    ],
  ),
  scenario(
    'policies and bindings',
    {
      spec: NO,
      constraints: {
        resourceRules: [
          {
            ...RULE,
            apiGroups: ['admissionregistration.k8s.io'],
            resources: [
              'validatingadmissionpolicies',
              'validatingadmissionpolicybindings',
              'mutatingwebhookconfigurations',
            ],
          },
        ],
        namespaceSelector: {},
      },
    },
    [
      {
        call: ['POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'],
        body: { metadata: { name: 'policed' } },
      },
      { call: ['POST', BINDINGS], body: binding('free', 'rule') },
      { call: ['DELETE', `${BINDINGS}/free`], silent: true },
      { call: ['POST', POLICIES], body: policy('free', NO) },
      { call: ['DELETE', `${POLICIES}/free`], silent: true },
    ],
  ),
  scenario(
    'reviews',
    {
      spec: NO,
      constraints: {
        resourceRules: [
          { ...RULE, apiGroups: ['authorization.k8s.io', 'authentication.k8s.io'], resources: ['*'] },
        ],
        namespaceSelector: {},
      },
    },
    [
      {
        call: ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'],
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          metadata: {},
          spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
        },
        as: 'alice',
      },
    ],
  ),
  scenario(
    'what a policy sees of a patch',
    {
      spec: checks("object.data.x == 'y' && oldObject.data.x == 'z'", {
        messageExpression: 'string(has(object.data.x)) + string(oldObject != null) + request.options.kind',
      }),
    },
    [
      create('patched', { x: 'z' }),
      { call: ['PATCH', `${MAPS}/patched`], body: map('patched', { x: 'y' }), type: MERGE },
    ],
  ),
];
