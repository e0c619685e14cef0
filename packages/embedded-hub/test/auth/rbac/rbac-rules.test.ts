import { describe, expect, it } from 'vitest';
import type { PolicyRule } from '../../../src/auth/rbac/rbac-rules.ts';
import {
  splitRule,
  readRules,
  ruleAllows,
  ruleAllowsPath,
  ruleCovers,
} from '../../../src/auth/rbac/rbac-rules.ts';
import type { AccessAttributes } from '../../../src/wire/user-info.ts';

const rule = (over: Partial<PolicyRule> = {}): PolicyRule => ({
  verbs: ['get'],
  apiGroups: [''],
  resources: ['pods'],
  resourceNames: [],
  nonResourceURLs: [],
  ...over,
});
const question = (over: Partial<AccessAttributes> = {}): AccessAttributes => ({
  verb: 'get',
  group: '',
  resource: 'pods',
  ...over,
});

describe('a rule about resources', () => {
  it.each<[string, Partial<PolicyRule>, Partial<AccessAttributes>, boolean]>([
    ['allows what it names', {}, {}, true],
    ['allows no other verb', {}, { verb: 'delete' }, false],
    ['allows no other group', {}, { group: 'apps' }, false],
    ['allows no other resource', {}, { resource: 'secrets' }, false],
    ['on pods does not allow pods/exec', {}, { subresource: 'exec' }, false],
    ['on pods/exec does not allow pods', { resources: ['pods/exec'] }, {}, false],
    ['on pods/exec allows pods/exec', { resources: ['pods/exec'] }, { subresource: 'exec' }, true],
    ['on pods/exec does not allow pods/log', { resources: ['pods/exec'] }, { subresource: 'log' }, false],
    [
      'on pods/exec does not allow nodes/exec',
      { resources: ['pods/exec'] },
      { resource: 'nodes', subresource: 'exec' },
      false,
    ],
    ['on */scale allows the scale of anything', { resources: ['*/scale'] }, { subresource: 'scale' }, true],
    ['on */scale does not allow the object', { resources: ['*/scale'] }, {}, false],
    [
      'on pods/* allows no subresource: that is no wildcard',
      { resources: ['pods/*'] },
      { subresource: 'exec' },
      false,
    ],
    ['on * allows every resource', { resources: ['*'] }, { resource: 'secrets' }, true],
    ['on * allows every subresource', { resources: ['*'] }, { subresource: 'exec' }, true],
    [
      'for every verb and group allows all of them',
      { verbs: ['*'], apiGroups: ['*'] },
      { verb: 'patch', group: 'apps' },
      true,
    ],
    ['for one name allows that name', { resourceNames: ['web'] }, { name: 'web' }, true],
    ['for one name allows no other', { resourceNames: ['web'] }, { name: 'api' }, false],
    ['for one name does not allow a list', { resourceNames: ['web'] }, { verb: 'get', name: '' }, false],
    ['with an empty name in its list does not allow a list', { resourceNames: [''] }, { name: '' }, false],
    ['without verbs allows nothing', { verbs: [] }, {}, false],
    ['about paths allows no resource', { resources: [], apiGroups: [], nonResourceURLs: ['*'] }, {}, false],
  ])('%s', (_name, over, asked, want) => {
    expect(ruleAllows(rule(over), question(asked))).toBe(want);
  });
});

describe('a rule about paths', () => {
  it.each<[readonly string[], string, boolean]>([
    [['/healthz'], '/healthz', true],
    [['/healthz'], '/healthz/ping', false],
    [['/healthz/*'], '/healthz/ping', true],
    [['/healthz/*'], '/healthz', false],
    [['/healthz/*'], '/metrics', false],
    [['*'], '/metrics', true],
    [['/a', '/metrics'], '/metrics', true],
    [[], '/metrics', false],
  ])('%j and %s: %j', (nonResourceURLs, path, want) => {
    expect(ruleAllowsPath(rule({ nonResourceURLs }), 'get', path)).toBe(want);
  });

  it('is about its verbs alone', () => {
    expect(ruleAllowsPath(rule({ nonResourceURLs: ['*'] }), 'post', '/metrics')).toBe(false);
  });
});

describe('splitRule', () => {
  it('makes one rule of each verb, group, resource and name', () => {
    const broken = splitRule(
      rule({
        verbs: ['get', 'list'],
        apiGroups: ['', 'apps'],
        resources: ['a', 'b/c'],
        resourceNames: ['x', 'y'],
      }),
    );
    expect(broken).toHaveLength(16);
    expect(new Set(broken.map((one) => JSON.stringify(one))).size).toBe(16);
    for (const one of broken)
      expect(Object.values(one).map((list: readonly string[]) => list.length)).toEqual([1, 1, 1, 1, 0]);
  });

  it('makes one rule of each verb and path', () => {
    const broken = splitRule(
      rule({ verbs: ['get', 'post'], apiGroups: [], resources: [], nonResourceURLs: ['/a', '/b'] }),
    );
    expect(broken.map(({ verbs, nonResourceURLs }) => `${verbs.join()} ${nonResourceURLs.join()}`)).toEqual([
      'get /a',
      'get /b',
      'post /a',
      'post /b',
    ]);
    for (const { apiGroups, resources, resourceNames } of broken)
      expect([...apiGroups, ...resources, ...resourceNames]).toEqual([]);
  });

  it('keeps that a rule is about every name', () => {
    expect(splitRule(rule())).toEqual([rule()]);
  });
});

describe('what somebody has covers what he would grant', () => {
  it.each<[string, Partial<PolicyRule>, Partial<PolicyRule>, boolean]>([
    ['the same', {}, {}, true],
    ['another verb', {}, { verbs: ['delete'] }, false],
    ['every verb, with one', {}, { verbs: ['*'] }, false],
    ['one verb, with all', { verbs: ['*'] }, {}, true],
    ['another group', {}, { apiGroups: ['apps'] }, false],
    ['another resource', {}, { resources: ['secrets'] }, false],
    ['pods/exec with pods', {}, { resources: ['pods/exec'] }, false],
    ['pods/exec with pods/exec', { resources: ['pods/exec'] }, { resources: ['pods/exec'] }, true],
    ['pods/exec with */exec', { resources: ['*/exec'] }, { resources: ['pods/exec'] }, true],
    ['*/exec with pods/exec', { resources: ['pods/exec'] }, { resources: ['*/exec'] }, false],
    ['*/exec with */exec', { resources: ['*/exec'] }, { resources: ['*/exec'] }, true],
    ['every resource with one', {}, { resources: ['*'] }, false],
    ['one resource with all', { resources: ['*'] }, { resources: ['pods/exec'] }, true],
    ['one name with all', {}, { resourceNames: ['web'] }, true],
    ['all names with one', { resourceNames: ['web'] }, {}, false],
    ['the same name', { resourceNames: ['web'] }, { resourceNames: ['web'] }, true],
    ['another name', { resourceNames: ['web'] }, { resourceNames: ['api'] }, false],
    ['a path', { nonResourceURLs: ['/a/*'] }, { resources: [], nonResourceURLs: ['/a/b'] }, true],
    ['another path', { nonResourceURLs: ['/a/*'] }, { resources: [], nonResourceURLs: ['/b'] }, false],
    ['a wider path', { nonResourceURLs: ['/a/*'] }, { resources: [], nonResourceURLs: ['/*'] }, false],
    [
      'a path, for another verb',
      { verbs: ['post'], nonResourceURLs: ['*'] },
      { resources: [], nonResourceURLs: ['/a'] },
      false,
    ],
  ])('%s', (_name, owned, wanted, want) => {
    expect(ruleCovers(rule(owned), rule(wanted))).toBe(want);
  });
});

describe('readRules', () => {
  it('fills in absent lists and leaves out what is no text', () => {
    expect(
      readRules({
        rules: [{ verbs: ['get', 1] }, 'x', { apiGroups: [''], resources: ['pods'], resourceNames: ['web'] }],
      }),
    ).toEqual([rule({ apiGroups: [], resources: [] }), rule({ verbs: [], resourceNames: ['web'] })]);
    expect(readRules({})).toEqual([]);
  });
});
