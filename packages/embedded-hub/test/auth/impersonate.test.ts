import { describe, expect, it } from 'vitest';
import { impersonate } from '../../src/auth/impersonate.ts';
import type { Authorizer } from '../../src/auth/rbac/authorizer.ts';
import type { HubRequest } from '../../src/wire/api-response.ts';
import type { AccessAttributes } from '../../src/wire/user-info.ts';

const caller = { name: 'admin', groups: ['ops'] };

/** Names of headers in lower case, as Node gives them; repeated ones by a list. */
function requestWith(headers: Readonly<Record<string, string | readonly string[]>>): HubRequest {
  const raw = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => [name.replace('impersonate', 'Impersonate'), one]),
  );
  const joined = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return { headers: Object.fromEntries(joined), rawHeaders: raw } as unknown as HubRequest;
}

function become(headers: Parameters<typeof requestWith>[0], mayNot?: string) {
  const asked: string[] = [];
  const authorizer = {
    allows: (_user: unknown, { verb, group, resource, namespace, name }: AccessAttributes) => {
      asked.push([verb, group, resource, namespace ?? '-', name].join('|'));
      return resource !== mayNot;
    },
  };
  return { user: impersonate(requestWith(headers), caller, authorizer as unknown as Authorizer), asked };
}

describe('impersonation', () => {
  it('is not asked for by a request without the headers', () => {
    expect(become({ accept: '*/*' })).toEqual({ user: caller, asked: [] });
  });

  it('asks for the user, each group, the uid and each extra', () => {
    const { user, asked } = become({
      'impersonate-user': 'ada',
      'impersonate-group': ['devs', 'a,b'],
      'impersonate-uid': '7',
      'impersonate-extra-acme.org%2Fteam': 'blue',
    });
    expect(user).toEqual({
      name: 'ada',
      uid: '7',
      groups: ['devs', 'a,b', 'system:authenticated'],
      extra: { 'acme.org/team': ['blue'] },
    });
    expect(asked).toEqual([
      'impersonate||users|-|ada',
      'impersonate||groups|-|devs',
      'impersonate||groups|-|a,b',
      'impersonate|authentication.k8s.io|uids|-|7',
      'impersonate|authentication.k8s.io|userextras/acme.org/team|-|blue',
    ]);
  });

  it('asks for a service account in its namespace, which brings its groups unless others are given', () => {
    const account = { 'impersonate-user': 'system:serviceaccount:team:robot' };
    const { user, asked } = become(account);
    expect(user.groups).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:team',
      'system:authenticated',
    ]);
    expect(asked).toEqual(['impersonate||serviceaccounts|team|robot']);
    expect(become({ ...account, 'impersonate-group': 'devs' }).user.groups).toEqual([
      'devs',
      'system:authenticated',
    ]);
  });

  it.each<[string, Parameters<typeof requestWith>[0]]>([
    ['users', { 'impersonate-user': 'ada' }],
    ['serviceaccounts', { 'impersonate-user': 'system:serviceaccount:team:robot' }],
    ['groups', { 'impersonate-user': 'ada', 'impersonate-group': 'devs' }],
    ['uids', { 'impersonate-user': 'ada', 'impersonate-uid': '7' }],
    ['userextras/team', { 'impersonate-user': 'ada', 'impersonate-extra-team': 'blue' }],
  ])('is refused without the right on %s', (resource, headers) => {
    expect(() => become(headers, resource)).toThrow(
      `cannot impersonate resource ${JSON.stringify(resource)}`,
    );
  });

  it.each<[string, Parameters<typeof requestWith>[0]]>([
    ['one group', { 'impersonate-group': 'devs' }],
    ['a uid', { 'impersonate-uid': '7' }],
    ['an extra', { 'impersonate-extra-team': 'blue' }],
    ['one group and an empty user', { 'impersonate-user': '', 'impersonate-group': 'devs' }],
  ])('of %s without a user is a bad request', (_name, headers) => {
    expect(() => become(headers)).toThrow('without impersonating a user');
  });

  it('leaves an extra key as it is that is not properly encoded', () => {
    const { user } = become({ 'impersonate-user': 'ada', 'impersonate-extra-a%zz': 'x' });
    expect(user.extra).toEqual({ 'a%zz': ['x'] });
  });
});
