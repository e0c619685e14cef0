import type { LooseJson } from '../../../../packages/embedded-hub/test/loose-json.ts';
import type { Scenario } from '../webhooks/scenario.ts';
import { BINDINGS, binding, checks, MERGE, POLICIES, policy, RULE, writes } from './policy-scenario.ts';

const TRUE = checks('true');

const refused = (name: string, ...bodies: LooseJson[]): Scenario =>
  writes(`refused: ${name}`, POLICIES, bodies);
const refusedBinding = (name: string, ...specs: LooseJson[]): Scenario =>
  writes(
    `refused binding: ${name}`,
    BINDINGS,
    specs.map((spec) => binding('bad', 'rule', spec)),
  );
const spec = (more: LooseJson): LooseJson => policy('bad', { ...TRUE, ...more });
const constraints = (more: LooseJson): LooseJson => policy('bad', TRUE, more);
const rule = (more: LooseJson): LooseJson => constraints({ resourceRules: [{ ...RULE, ...more }] });
const expression = (text: string, more: LooseJson = {}): LooseJson =>
  policy('bad', { ...more, validations: [{ expression: text }] });
const variables = (list: readonly LooseJson[], check = 'true'): LooseJson =>
  policy('bad', { ...checks(check), variables: list });
const annotations = (list: readonly LooseJson[]): LooseJson => policy('bad', { auditAnnotations: list });

/** Policies and bindings themselves: what is refused, defaulted, counted. */
export const KIND_SCENARIOS: readonly Scenario[] = [
  writes('defaults', POLICIES, [
    { metadata: { name: 'plain' }, spec: { matchConstraints: { resourceRules: [RULE] }, ...TRUE } },
    {
      metadata: { name: 'full' },
      spec: {
        failurePolicy: 'Ignore',
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConstraints: {
          matchPolicy: 'Exact',
          namespaceSelector: { matchLabels: { a: 'b' } },
          objectSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
          resourceRules: [{ ...RULE, scope: 'Namespaced', resourceNames: ['one', 'two'] }],
          excludeResourceRules: [{ ...RULE, operations: ['CREATE', 'DELETE'] }],
        },
        matchConditions: [{ name: 'a.example.com/b', expression: "object.metadata.name != 'x'" }],
        variables: [{ name: 'size', expression: 'size(object.data)' }],
        validations: [
          {
            expression: 'variables.size < 3 && params == null',
            message: 'too large',
            messageExpression: "'size is ' + string(variables.size)",
            reason: 'Forbidden',
          },
        ],
        auditAnnotations: [{ key: 'size', valueExpression: "variables.size > 1 ? 'big' : null" }],
      },
      status: { observedGeneration: 7 },
    },
  ]),
  writes('defaults of bindings', BINDINGS, [
    { metadata: { name: 'plain' }, spec: { policyName: 'x', validationActions: ['Deny'] } },
    {
      metadata: { name: 'full' },
      spec: {
        policyName: 'nobody',
        validationActions: ['Audit', 'Warn'],
        paramRef: { selector: {}, namespace: 'default', parameterNotFoundAction: 'Allow' },
        matchResources: { resourceRules: [RULE] },
      },
    },
  ]),
  {
    name: 'policy: generation, status and updates',
    steps: () => [
      { call: ['POST', POLICIES], body: policy('grown', TRUE), silent: true },
      {
        call: ['PATCH', `${POLICIES}/grown`],
        body: { metadata: { labels: { a: 'b' } }, status: { observedGeneration: 3 } },
        type: MERGE,
      },
      { call: ['PATCH', `${POLICIES}/grown`], body: { spec: { failurePolicy: 'Ignore' } }, type: MERGE },
      {
        call: ['PATCH', `${POLICIES}/grown/status`],
        body: {
          status: {
            observedGeneration: 2,
            typeChecking: {
              expressionWarnings: [{ fieldRef: 'spec.validations[0].expression', warning: 'hm' }],
            },
            conditions: [
              {
                type: 'Ready',
                status: 'True',
                reason: 'Fine',
                message: '',
                lastTransitionTime: '2026-01-01T00:00:00Z',
              },
            ],
          },
        },
        type: MERGE,
      },
      {
        call: ['PATCH', `${POLICIES}/grown/status`],
        body: {
          status: {
            typeChecking: { expressionWarnings: [{ fieldRef: '', warning: '' }] },
            conditions: [{ type: 'Ready', status: 'Maybe' }],
          },
        },
        type: MERGE,
      },
      { call: ['PUT', `${POLICIES}/grown`], body: policy('grown', TRUE) },
      { call: ['PUT', `${POLICIES}/ungrown`], body: policy('ungrown', TRUE) },
      { call: ['DELETE', `${POLICIES}/grown`], silent: true },
    ],
  },
  {
    name: 'policy: generation of a binding',
    steps: () => [
      { call: ['POST', BINDINGS], body: binding('grown', 'rule'), silent: true },
      { call: ['PATCH', `${BINDINGS}/grown`], body: { spec: { policyName: 'other' } }, type: MERGE },
      { call: ['PUT', `${BINDINGS}/grown`], body: binding('grown', 'rule') },
      { call: ['PATCH', `${BINDINGS}/grown`], body: { spec: { validationActions: null } }, type: MERGE },
      { call: ['DELETE', `${BINDINGS}/grown`], silent: true },
    ],
  },
  refused('nothing in it', { metadata: { name: 'bad' } }, { metadata: { name: 'bad' }, spec: {} }),
  refused('failurePolicy', spec({ failurePolicy: 'Maybe' }), spec({ failurePolicy: '' })),
  refused('no rules', constraints({ resourceRules: [] })),
  refused('matchPolicy', constraints({ matchPolicy: 'Roughly' })),
  refused(
    'an incomplete rule',
    constraints({ resourceRules: [{}] }),
    rule({ operations: ['READ'], apiVersions: [''], resources: ['', 'pods/', 'x/y/z'] }),
  ),
  refused(
    'stars beside words',
    rule({
      operations: ['*', 'CREATE'],
      apiGroups: ['*', 'apps'],
      apiVersions: ['*', 'v1'],
      resources: ['*', 'pods'],
    }),
    rule({ resources: ['pods/*', 'pods/status'] }),
    rule({ resources: ['*/*', 'pods'] }),
  ),
  refused('scope', rule({ scope: 'Everywhere' })),
  refused('resourceNames', rule({ resourceNames: ['a/b', '..', 'one', 'one', 'x%y'] })),
  refused(
    'selectors',
    constraints({
      namespaceSelector: { matchLabels: { 'a b': 'c d' } },
      objectSelector: {
        matchExpressions: [
          { key: 'a', operator: 'In' },
          { key: 'b', operator: 'Near' },
        ],
      },
    }),
  ),
  refused('excluded rules', constraints({ excludeResourceRules: [{ operations: ['*'] }] })),
  refused('an empty paramKind', spec({ paramKind: {} })),
  refused(
    'apiVersion of a paramKind',
    spec({ paramKind: { apiVersion: 'a/b/c', kind: 'ConfigMap' } }),
    spec({ paramKind: { apiVersion: 'A_b/v1', kind: 'ConfigMap' } }),
    spec({ paramKind: { apiVersion: 'example.com/', kind: 'ConfigMap' } }),
    spec({ paramKind: { apiVersion: 'example.com/1', kind: 'ConfigMap' } }),
    spec({ paramKind: { apiVersion: '/', kind: 'ConfigMap' } }),
  ),
  refused('kind of a paramKind', spec({ paramKind: { apiVersion: 'v1', kind: 'Config_Map' } })),
  refused('no expressions', policy('bad', {}), policy('bad', { validations: [], auditAnnotations: [] })),
  refused('an empty expression', expression(''), expression('  ')),
  refused('a syntax error', expression('object.')),
  refused('two mistakes', expression('nobody.x == 1 && nothing.y == 2')),
  refused('an unknown global function', expression('hurry(1) == 1')),
  refused('a time that is none', expression('timestamp("yesterday") == timestamp("2026-01-01T00:00:00Z")')),
  refused('an unknown name', expression('subject.metadata.name == "x"')),
  refused('an unknown function', expression('object.metadata.name.hurry() == "x"')),
  refused('two numbers and a text', expression('1 + "a" == 2')),
  refused('no bool', expression('1'), expression('"a"'), expression('[1, 2]'), expression('{"a": 1.5}')),
  refused('nothing that is known to be a bool', expression('object.spec.ready'), expression('object')),
  refused(
    'other types',
    expression('timestamp("2026-01-01T00:00:00Z")'),
    expression('null'),
    expression('request.userInfo'),
  ),
  refused('an unknown field of the request', expression('request.object.name == "x"')),
  refused('an unknown field of the namespace', expression('namespaceObject.metadata.managedFields == null')),
  refused('params without a paramKind', expression('params.x == 1')),
  refused('variables where there are none', expression('variables.x == 1')),
  refused('a bad pattern', expression('object.metadata.name.matches("(")')),
  refused(
    'a messageExpression',
    policy('bad', checks('true', { messageExpression: '1' })),
    policy('bad', checks('true', { messageExpression: 'object.metadata.name' })),
    policy('bad', checks('true', { messageExpression: '   ' })),
    policy(
      'bad',
      checks('true', {
        messageExpression: "string(authorizer.group('').resource('pods').check('get').allowed())",
      }),
    ),
  ),
  refused(
    'a message',
    policy('bad', checks('true', { message: '  ' })),
    policy('bad', checks('true', { message: 'one\ntwo' })),
  ),
  refused(
    'a reason',
    policy('bad', checks('true', { reason: 'Unauthorized' })),
    policy('bad', checks('true', { reason: 'Bad' })),
  ),
  refused(
    'names of variables',
    variables([{ name: '', expression: 'true' }]),
    variables([{ name: 'in', expression: 'true' }]),
    variables([{ name: 'a-b', expression: 'true' }]),
    variables([{ name: '1a', expression: 'true' }]),
  ),
  refused(
    'expressions of variables',
    variables([{ name: 'a', expression: ' ' }]),
    variables([{ name: 'a', expression: 'nobody' }]),
  ),
  refused(
    'variables before their time',
    variables([
      { name: 'a', expression: 'variables.b' },
      { name: 'b', expression: '1' },
    ]),
    variables([{ name: 'a', expression: '1' }], 'variables.c == 1'),
    variables([{ name: 'a', expression: '1' }], 'variables.a == "x"'),
    variables([{ name: 'a', expression: '[1]' }], 'variables.a[0] == "x"'),
  ),
  refused(
    'variables in matchConditions',
    policy('bad', {
      ...TRUE,
      variables: [{ name: 'a', expression: 'true' }],
      matchConditions: [{ name: 'a', expression: 'variables.a' }],
    }),
  ),
  refused(
    'matchConditions',
    spec({ matchConditions: [{ expression: 'true' }] }),
    spec({ matchConditions: [{ name: 'a' }] }),
    spec({ matchConditions: [{ name: 'a b', expression: '1' }] }),
    spec({ matchConditions: [{ name: 'a', expression: 'params.x == 1' }] }),
    spec({
      matchConditions: Array.from({ length: 65 }, (_, index) => ({
        name: `c${String(index)}`,
        expression: 'true',
      })),
    }),
  ),
  refused(
    'auditAnnotations',
    annotations([{ key: 'a b', valueExpression: "'x'" }]),
    annotations([{ key: '', valueExpression: "'x'" }]),
    annotations([{ key: 'a', valueExpression: '' }]),
    annotations([{ key: 'a', valueExpression: '1' }]),
    annotations([{ key: 'a', valueExpression: 'object.metadata.name' }]),
    annotations([{ key: 'a', valueExpression: `'${'x'.repeat(6000)}'` }]),
    annotations([
      { key: 'a', valueExpression: "'x'" },
      { key: 'a', valueExpression: "'y'" },
    ]),
  ),
  refused('a name', policy('Bad_Name', TRUE)),
  refusedBinding('no policy', { policyName: '' }, { policyName: 'A_b' }),
  refusedBinding(
    'actions',
    { validationActions: [] },
    { validationActions: ['Shout'] },
    { validationActions: ['Deny', 'Warn'] },
  ),
  refusedBinding(
    'paramRef',
    { paramRef: {} },
    { paramRef: { name: 'a', parameterNotFoundAction: 'Shrug' } },
    { paramRef: { name: 'a/b', parameterNotFoundAction: 'Deny' } },
    { paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'Deny' } },
    { paramRef: { selector: { matchLabels: { 'a b': 'c' } }, parameterNotFoundAction: 'Deny' } },
  ),
  refusedBinding('matchResources', { matchResources: { matchPolicy: 'x', resourceRules: [{}] } }),
];
