import type { LooseJson } from '../../../../packages/embedded-hub/test/loose-json.ts';
import type { Scenario, Step } from '../webhooks/scenario.ts';
import type { Bound } from './policy-scenario.ts';
import { APPLY, checks, create, map, MAPS, MERGE, scenario } from './policy-scenario.ts';

const small = checks('size(object.data) < 2');
const big = { a: 'b', c: 'd' };
const two: readonly Step[] = [create('good'), create('bad', big)];
const acting = (spec: LooseJson, ...actions: readonly string[]): Bound => ({
  spec,
  bindings: [{ validationActions: actions }],
});
const failing = (expression: string): LooseJson => checks(expression);
const messages = (more: LooseJson): LooseJson => checks('size(object.data) < 2', more);

/** What a policy says, and its effect. */
export const VERDICT_SCENARIOS: readonly Scenario[] = [
  scenario('a denial', small, two),
  scenario('a message', messages({ message: '  too many keys  ' }), two),
  scenario(
    'the first of several validations',
    {
      validations: [
        { expression: 'true' },
        { expression: 'false', message: 'first' },
        { expression: 'false', message: 'second', reason: 'Forbidden' },
      ],
    },
    two,
  ),
  scenario('the reason Forbidden', messages({ reason: 'Forbidden' }), two),
  scenario('the reason RequestEntityTooLarge', messages({ reason: 'RequestEntityTooLarge' }), two),
  scenario('the reason Invalid', messages({ reason: 'Invalid', message: 'x' }), two),
  scenario(
    'a messageExpression',
    messages({
      messageExpression: "'  there are ' + string(size(object.data)) + ' keys '",
      message: 'unused',
    }),
    two,
  ),
  scenario(
    'a messageExpression that fails',
    messages({ messageExpression: 'object.data.nothing + "x"', message: 'instead' }),
    two,
  ),
  scenario(
    'a messageExpression that fails, and no message',
    messages({ messageExpression: 'object.data.nothing + "x"' }),
    two,
  ),
  scenario(
    'a messageExpression on two lines',
    messages({ messageExpression: "'a\\nb'", message: 'one line' }),
    two,
  ),
  scenario('a messageExpression of blanks', messages({ messageExpression: "'   '", message: 'words' }), two),
  scenario(
    'a messageExpression that is too long',
    messages({
      messageExpression: "[0,1,2,3,4,5,6,7,8,9].map(x, '" + 'y'.repeat(600) + "').join()",
      message: 'short',
    }),
    two,
  ),
  scenario(
    'a messageExpression that is long enough',
    messages({ messageExpression: "'" + 'y'.repeat(4000) + "'" }),
    two,
  ),
  scenario('an expression on two lines', checks(' size(object.data)\n < 2 '), two),
  scenario('Warn', acting(messages({ message: 'too "many" keys' }), 'Warn'), two),
  scenario('Audit', acting(small, 'Audit'), two),
  scenario('Warn and Audit', acting(small, 'Audit', 'Warn'), two),
  scenario('Deny and Audit', acting(small, 'Deny', 'Audit'), two),
  scenario(
    'two bindings, one of which warns',
    { spec: small, bindings: [{ validationActions: ['Warn'] }, {}] },
    two,
  ),
  scenario('a failing expression', failing('object.data.nothing == "x"'), two),
  scenario(
    'a failing expression with failurePolicy Ignore',
    { ...failing('object.data.nothing == "x"'), failurePolicy: 'Ignore' },
    two,
  ),
  scenario('a denial with failurePolicy Ignore', { ...small, failurePolicy: 'Ignore' }, two),
  scenario(
    'a failing expression beside a denial, with failurePolicy Ignore',
    {
      validations: [{ expression: 'object.data.nothing == "x"' }, { expression: 'false', message: 'no' }],
      failurePolicy: 'Ignore',
    },
    two,
  ),
  scenario(
    'a failing expression that only warns',
    acting(failing('object.data.nothing == "x"'), 'Warn'),
    two,
  ),
  scenario('other errors', { validations: [{ expression: '[1, 2][size(object.data) + 5] == 1' }] }, two),
  scenario('a division by zero', checks('1 / (size(object.data) - 1) == 1'), two),
  scenario('a value of another type', checks('object.data.a + 1 == 2'), two),
  scenario('a condition that is no bool when it runs', checks('object.data.a || false'), two),
  scenario(
    'fields of texts and numbers',
    {
      validations: [
        { expression: '!has(object.data.a.b)' },
        { expression: 'object.metadata.generation.x == 1', message: 'no number' },
        { expression: 'object.data.a.b == 1' },
      ],
    },
    two,
  ),
  scenario('fields of lists', checks('has(object.metadata.managedFields.x)'), two),
  scenario(
    'sets',
    checks(
      "sets.equivalent(['a'], object.data.map(k, k)) && sets.intersects(['a', 'z'], object.data.map(k, k)) && !sets.contains(['b'], ['a'])",
    ),
    two,
  ),
  scenario('an error that another side decides', checks('object.data.nothing == "x" || true'), two),
  scenario('a conversion that fails', checks('int(object.data.a) == 1'), two),
  scenario(
    'matchConditions that hold',
    { ...small, matchConditions: [{ name: 'a', expression: 'true' }] },
    two,
  ),
  scenario(
    'matchConditions that do not hold',
    {
      ...small,
      matchConditions: [
        { name: 'fails', expression: 'object.data.nothing == "x"' },
        { name: 'no', expression: 'false' },
      ],
    },
    two,
  ),
  scenario(
    'a matchCondition that fails',
    { ...small, matchConditions: [{ name: 'fails', expression: 'object.data.nothing == "x"' }] },
    two,
  ),
  scenario(
    'two matchConditions that fail',
    {
      ...small,
      matchConditions: [
        { name: 'one', expression: 'object.data.nothing == "x"' },
        { name: 'two', expression: 'object.data.never == "x"' },
      ],
    },
    two,
  ),
  scenario(
    'a matchCondition that fails, with failurePolicy Ignore',
    {
      ...small,
      failurePolicy: 'Ignore',
      matchConditions: [{ name: 'fails', expression: 'object.data.nothing == "x"' }],
    },
    two,
  ),
  scenario(
    'the namespace in matchConditions',
    { ...small, matchConditions: [{ name: 'ns', expression: 'namespaceObject == null' }] },
    two,
  ),
  scenario(
    'a field of the namespace in matchConditions',
    { ...small, matchConditions: [{ name: 'ns', expression: 'namespaceObject.metadata.name == "policed"' }] },
    two,
  ),
  scenario(
    'variables',
    {
      variables: [
        { name: 'keys', expression: "['a', 'b', 'c'].filter(k, k in object.data)" },
        { name: 'count', expression: 'size(variables.keys)' },
        { name: 'unused', expression: 'object.data.nothing' },
      ],
      validations: [
        { expression: 'variables.count < 2', messageExpression: "'keys: ' + variables.keys.join(', ')" },
      ],
    },
    two,
  ),
  scenario(
    'a variable that fails',
    { variables: [{ name: 'bad', expression: 'object.data.nothing' }], ...checks('variables.bad == "x"') },
    two,
  ),
  scenario(
    'a variable that fails within another',
    {
      variables: [
        { name: 'bad', expression: 'object.data.nothing' },
        { name: 'worse', expression: 'variables.bad + "x"' },
      ],
      ...checks('variables.worse == "x"'),
    },
    two,
  ),
  scenario(
    'variables of several types',
    {
      variables: [
        { name: 'isBig', expression: 'size(object.data) > 1' },
        { name: 'maybe', expression: 'object.data.?c' },
        { name: 'pairs', expression: '{"a": 1, "b": 2}' },
        { name: 'check', expression: "authorizer.group('').resource('pods')" },
      ],
      ...checks(
        'variables.isBig ? variables.maybe.orValue("e") == "x" : variables.pairs.a + 1 == 2 && variables.check.check("get").allowed()',
      ),
    },
    two,
  ),
  scenario(
    'auditAnnotations',
    {
      auditAnnotations: [
        { key: 'size', valueExpression: "'size ' + string(size(object.data))" },
        { key: 'none', valueExpression: 'null' },
      ],
    },
    two,
  ),
  scenario(
    'auditAnnotations that fail',
    { auditAnnotations: [{ key: 'size', valueExpression: "'size ' + object.data.nothing" }] },
    two,
  ),
  scenario(
    'auditAnnotations that fail where a binding only warns',
    acting({ auditAnnotations: [{ key: 'size', valueExpression: "'size ' + object.data.nothing" }] }, 'Warn'),
    two,
  ),
  scenario(
    'auditAnnotations that fail, with failurePolicy Ignore',
    {
      failurePolicy: 'Ignore',
      auditAnnotations: [{ key: 'size', valueExpression: "'size ' + object.data.nothing" }],
    },
    two,
  ),
  scenario(
    'an update',
    { ...checks('oldObject == null || object.data.a == oldObject.data.a', { message: 'a is fixed' }) },
    [
      create('fixed'),
      { call: ['PATCH', `${MAPS}/fixed`], body: { data: { a: 'c' } }, type: MERGE },
      { call: ['PATCH', `${MAPS}/fixed`], body: { data: { b: 'c' } }, type: MERGE },
      { call: ['PUT', `${MAPS}/fixed`], body: map('fixed', { a: 'd' }) },
      {
        call: ['PATCH', `${MAPS}/fixed?fieldManager=me&force=true`],
        body: map('fixed', { a: 'e' }),
        type: APPLY,
      },
      { call: ['PATCH', `${MAPS}/applied?fieldManager=me`], body: map('applied', { a: 'e' }), type: APPLY },
    ],
  ),
  scenario(
    'a deletion',
    checks("request.operation != 'DELETE' || (object == null && oldObject.data.a == 'x')", {
      message: 'stays',
    }),
    [
      create('stays'),
      create('goes', { a: 'x' }),
      { call: ['DELETE', `${MAPS}/stays`] },
      { call: ['DELETE', `${MAPS}/goes`] },
      { call: ['DELETE', MAPS] },
      { call: ['DELETE', `${MAPS}/gone`] },
    ],
  ),
  scenario('a dry run', checks('request.dryRun == false', { message: 'not even tried' }), [
    { call: ['POST', `${MAPS}?dryRun=All`], body: map('tried') },
    create('tried'),
    { call: ['DELETE', `${MAPS}/tried`], body: { dryRun: ['All'] } },
  ]),
  scenario(
    'a name that the server makes',
    checks('false', {
      messageExpression:
        "has(request.name) ? 'named' : 'unnamed ' + string(object.metadata.name.startsWith('generated-'))",
    }),
    [{ call: ['POST', MAPS], body: { metadata: { generateName: 'generated-' } } }],
  ),
  scenario(
    'values of the request',
    {
      ...checks('false', {
        messageExpression:
          "[request.kind.kind, request.kind.version, request.resource.resource, request.requestKind.group + '.', request.operation, request.namespace, request.name, request.userInfo.username, string(request.options.kind), string(has(request.subResource)), string(has(request.requestSubResource))].join(' ')",
      }),
    },
    [create('asked')],
  ),
  scenario(
    'groups of the user',
    checks("'system:masters' in request.userInfo.groups && !has(request.userInfo.extra)"),
    [create('asked'), { ...create('alice'), as: 'alice' }],
  ),
  scenario('an absent field of the request', checks("request.subResource == ''"), [create('asked')]),
  scenario(
    'the namespace',
    checks("namespaceObject.metadata.labels.team == 'sea'", {
      messageExpression:
        "namespaceObject.metadata.name + ' ' + namespaceObject.status.phase + ' ' + namespaceObject.spec.finalizers[0] + ' ' + namespaceObject.metadata.labels['team']",
    }),
    [create('asked')],
  ),
  scenario(
    'fields of the server',
    checks(
      "has(object.metadata.uid) && has(object.metadata.creationTimestamp) && object.kind == 'ConfigMap' && object.apiVersion == 'v1' && !has(object.metadata.resourceVersion)",
    ),
    [create('asked')],
  ),
  scenario(
    'an authorizer',
    checks("authorizer.group('').resource('secrets').namespace('policed').check('create').allowed()", {
      message: 'may not',
    }),
    [create('mine'), { ...create('alice'), as: 'alice' }],
  ),
  scenario(
    'checks of several kinds',
    {
      validations: [
        { expression: "authorizer.requestResource.check('create').allowed()", message: 'request' },
        {
          expression:
            "authorizer.path('/healthz').check('get').allowed() && !authorizer.path('/secret').check('get').errored()",
          message: 'path',
        },
        {
          expression:
            "authorizer.serviceAccount('policed', 'robot').group('apps').resource('deployments').subresource('scale').namespace('policed').name('x').check('update').allowed()",
          message: 'robot',
        },
      ],
    },
    [create('mine')],
  ),
  scenario(
    'a wrong service account',
    checks(
      "authorizer.serviceAccount('policed', 'Robot_1').group('apps').resource('x').check('get').allowed()",
    ),
    [create('mine')],
  ),
  scenario('an empty resource', checks("authorizer.group('apps').resource(' ').check('get').allowed()"), [
    create('mine'),
  ]),
  scenario(
    'three checks in one expression',
    checks("[1, 2, 3].all(x, authorizer.group('').resource('pods').check('get').allowed())"),
    [create('mine')],
  ),
  scenario(
    'an expression that costs too much',
    checks(
      '[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, [0,1,2,3,4,5,6,7,8,9].all(f, f < 10))))))',
    ),
    [create('mine')],
  ),
  scenario(
    'more checks than the budget pays for',
    {
      validations: Array.from({ length: 16 }, () => ({
        expression: "[1, 2].all(x, authorizer.group('').resource('pods').check('get').allowed())",
      })),
    },
    [create('mine')],
  ),
  scenario(
    'more checks than the budget pays for, with failurePolicy Ignore',
    {
      failurePolicy: 'Ignore',
      validations: Array.from({ length: 16 }, () => ({
        expression: "[1, 2].all(x, authorizer.group('').resource('pods').check('get').allowed())",
      })),
    },
    [create('mine')],
  ),
  scenario(
    'libraries',
    {
      validations: [
        {
          expression:
            "quantity('1Gi').isGreaterThan(quantity('1Mi')) && isURL('https://example.com') && ip('10.0.0.1').family() == 4",
        },
        {
          expression:
            "sets.contains(['a', 'b'], object.data.map(k, k)) && semver('1.2.3').major() == 1 && !format.dns1123Label().validate('Bad').hasValue()",
          message: 'libraries',
        },
      ],
    },
    two,
  ),
];
