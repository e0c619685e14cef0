import { describe, expect, it } from 'vitest';
import type { AdmissionNames, AdmissionResult } from '../src/admission-cel.ts';
import { compileAdmission, compileVariables } from '../src/admission-cel.ts';
import type { AdmissionInput } from '../src/admission-run.ts';
import { AdmissionRun, VALIDATION_BUDGET } from '../src/admission-run.ts';
import type { CelAuthority, ResourceAttributes } from '../src/library/authorization.ts';
import { CelAuthorizer, CelResourceCheck, CHECK_COST } from '../src/library/authorization.ts';

const ALL: AdmissionNames = { params: true, authorizer: true };
const INPUT: AdmissionInput = {
  object: { metadata: { name: 'web', labels: { a: 'b' } }, spec: { replicas: 3 } },
  oldObject: null,
  request: { operation: 'CREATE', name: 'web', userInfo: { username: 'alice', groups: ['devs'] } },
  namespaceObject: { metadata: { name: 'default', labels: { team: 'sea' } } },
  params: { limit: 2 },
};

/** Allows what is asked about pods, and remembers what it was asked. */
class Authority implements CelAuthority {
  readonly asked: string[];
  readonly #user: string;

  constructor(user = 'alice', asked: string[] = []) {
    this.#user = user;
    this.asked = asked;
  }

  resource({ verb, group, resource, subresource, namespace, name }: ResourceAttributes) {
    this.asked.push([this.#user, verb, group, resource, subresource, namespace, name].join(' '));
    return { allowed: resource === 'pods', reason: 'because' };
  }

  path(verb: string, path: string) {
    this.asked.push([this.#user, verb, path].join(' '));
    return { allowed: path === '/healthz', reason: '' };
  }

  serviceAccount(namespace: string, name: string): CelAuthority {
    return new Authority(`${namespace}:${name}`, this.asked);
  }
}

function inputWith(authority: CelAuthority): AdmissionInput {
  const asked = { group: '', resource: 'pods', subresource: '', namespace: 'default', name: 'web' };
  return {
    ...INPUT,
    authorizer: new CelAuthorizer(authority),
    requestResource: new CelResourceCheck(authority, asked),
  };
}

function outcome(expression: string, input = INPUT) {
  const run = new AdmissionRun(input, VALIDATION_BUDGET);
  return run.evaluate(expression, compileAdmission(expression, ALL, 'any'));
}

describe('expressions of admission', () => {
  it.each<[string, AdmissionResult, string | undefined]>([
    ['object.spec.replicas > 2', 'bool', undefined],
    ['object.spec.ready', 'bool', 'must evaluate to bool but got dyn'],
    ['1', 'bool', 'must evaluate to bool but got int'],
    ['[1]', 'bool', 'must evaluate to bool but got list(int)'],
    ['timestamp("2026-01-01T00:00:00Z")', 'bool', 'must evaluate to bool but got google.protobuf.Timestamp'],
    ['object.metadata.name', 'string', 'must evaluate to string but got dyn'],
    ['object.metadata.name + "x"', 'string', undefined],
    ['null', 'string or null', undefined],
    ['1', 'string or null', 'must evaluate to one of [string null_type] but got int'],
    ['request.userInfo.groups[0] == "devs"', 'bool', undefined],
    ['request.namespace == "x"', 'bool', undefined],
  ])('%s as %s', (expression, wanted, problem) => {
    const compilation = compileAdmission(expression, ALL, wanted);
    expect(compilation.ok ? undefined : compilation.detail).toBe(problem);
  });

  it.each([
    ['request.object == null', "undefined field 'object'"],
    ['request.kind.name == ""', "undefined field 'name'"],
    ['namespaceObject.metadata.managedFields == null', "undefined field 'managedFields'"],
    ['request.dryRun == "x"', "found no matching overload for '_==_' applied to '(bool, string)'"],
    ['variables.x == 1', "undeclared reference to 'variables'"],
  ])('knows the types: %s', (expression, message) => {
    const compilation = compileAdmission(expression, ALL, 'bool');
    expect(compilation).toMatchObject({ ok: false, detail: expect.stringContaining(message) });
  });

  it('has names only where they are given', () => {
    for (const name of ['params', 'authorizer', 'authorizer.requestResource']) {
      const without = compileAdmission(name, { params: false, authorizer: false }, 'any');
      expect(without).toMatchObject({ ok: false, detail: expect.stringContaining('undeclared reference') });
      expect(compileAdmission(name, ALL, 'any')).toMatchObject({ ok: true });
    }
  });

  it.each([
    ['object.spec.replicas <= params.limit', false],
    ["'devs' in request.userInfo.groups", true],
    ['namespaceObject.metadata.labels.team', 'sea'],
    ['oldObject == null', true],
  ])('%s', (expression, value) => {
    expect(outcome(expression)).toEqual({ kind: 'value', value });
  });

  it('tells what failed', () => {
    expect(outcome('object.spec.nothing == 1')).toEqual({
      kind: 'error',
      message: "expression 'object.spec.nothing == 1' resulted in error: no such key: nothing",
    });
    expect(outcome('nobody')).toMatchObject({
      message: expect.stringMatching(/^compilation error: compilation failed: ERROR: <input>:1:1: /),
    });
  });
});

describe('authorizer', () => {
  it.each([
    ["authorizer.group('').resource('pods').check('get').allowed()", true, 'alice get  pods   '],
    [
      "authorizer.group('apps').resource('deployments').subresource('scale').namespace('n').name('x').check('update').allowed()",
      false,
      'alice update apps deployments scale n x',
    ],
    ["authorizer.requestResource.check('create').reason()", 'because', 'alice create  pods  default web'],
    ["authorizer.path('/healthz').check('get').allowed()", true, 'alice get /healthz'],
    [
      "authorizer.serviceAccount('n', 'robot').group('').resource('x').check('get').errored()",
      false,
      'n:robot get  x   ',
    ],
    [
      "authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c').check('list').error()",
      '',
      'alice list  pods   ',
    ],
  ])('%s', (expression, value, asked) => {
    const authority = new Authority();
    expect(outcome(expression, inputWith(authority))).toEqual({ kind: 'value', value });
    expect(authority.asked).toEqual([asked]);
  });

  it.each([
    ["authorizer.group('').resource(' ').check('get').allowed()", 'resource must not be empty'],
    ["authorizer.path('').check('get').allowed()", 'path must not be empty'],
    [
      "authorizer.serviceAccount('n', 'A_b').path('/x').check('get').allowed()",
      'Invalid service account name',
    ],
    [
      "authorizer.serviceAccount('a.b', 'x').path('/x').check('get').allowed()",
      'Invalid service account namespace',
    ],
  ])('%s fails', (expression, message) => {
    const { kind, ...rest } = outcome(expression, inputWith(new Authority()));
    expect(kind).toBe('error');
    expect(rest).toMatchObject({ message: expect.stringContaining(message) });
  });

  it('may be asked twice in one expression, and as often as the budget pays', () => {
    const expression = "[1, 2, 3].all(x, authorizer.group('').resource('pods').check('get').allowed())";
    expect(outcome(expression, inputWith(new Authority()))).toMatchObject({
      message: expect.stringContaining('operation cancelled: actual cost limit exceeded'),
    });
    const once = "authorizer.group('').resource('pods').check('get').allowed()";
    const run = new AdmissionRun(inputWith(new Authority()), 3 * CHECK_COST);
    const compilation = compileAdmission(once, ALL, 'bool');
    expect([1, 2, 3, 4].map(() => run.evaluate(once, compilation).kind)).toEqual([
      'value',
      'value',
      'budget',
      'budget',
    ]);
  });
});

describe('variables', () => {
  const compile = (definitions: Readonly<Record<string, string>>) =>
    compileVariables(
      Object.entries(definitions).map(([name, expression]) => ({ name, expression })),
      ALL,
    );
  const evaluate = (definitions: Readonly<Record<string, string>>, expression: string, input = INPUT) => {
    const { compiled, type } = compile(definitions);
    const run = new AdmissionRun(input, VALIDATION_BUDGET, compiled);
    return {
      ...run.evaluate(expression, compileAdmission(expression, { ...ALL, variables: type }, 'any')),
      run,
    };
  };

  it('see those before them', () => {
    const { compiled } = compile({ early: 'variables.late', late: '1', last: 'variables.late + 1' });
    expect(compiled.map(({ compilation }) => compilation.ok)).toEqual([false, true, true]);
    expect(evaluate({ a: 'object.spec.replicas', b: 'variables.a + 1' }, 'variables.b')).toMatchObject({
      value: 4n,
    });
  });

  it('have types', () => {
    const { type } = compile({ count: '1', names: "['a']" });
    for (const [expression, ok] of [
      ['variables.count == 1', true],
      ['variables.count == "x"', false],
      ['variables.names[0] == "a"', true],
      ['variables.names == 1', false],
      ['variables.nothing', false],
    ] as const)
      expect(compileAdmission(expression, { ...ALL, variables: type }, 'any').ok, expression).toBe(ok);
  });

  it('are computed when they are read, and once', () => {
    const authority = new Authority();
    const definitions = {
      used: "authorizer.group('').resource('pods').check('get').allowed()",
      unused: "authorizer.group('').resource('secrets').check('get').allowed()",
      maybe: 'object.spec.?nothing',
    };
    const { run } = evaluate(
      definitions,
      'variables.used && variables.used || variables.unused',
      inputWith(authority),
    );
    expect(authority.asked).toHaveLength(1);
    expect(run.cost).toBeGreaterThan(CHECK_COST);
    expect(run.remainingBudget).toBe(VALIDATION_BUDGET - run.cost);
  });

  it('keep null, and tell how they failed', () => {
    expect(evaluate({ none: 'oldObject' }, 'variables.none == null')).toMatchObject({ value: true });
    expect(evaluate({ bad: 'object.spec.nothing' }, 'variables.bad == 1')).toMatchObject({
      message: expect.stringContaining('composited variable "bad" fails to evaluate: no such key: nothing'),
    });
    expect(evaluate({ bad: 'object.spec.nothing' }, 'variables.?bad.hasValue()')).toMatchObject({
      kind: 'error',
    });
  });
});
