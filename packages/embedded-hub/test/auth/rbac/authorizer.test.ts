import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json/json-value.ts';
import { Authorizer } from '../../../src/auth/rbac/authorizer.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';

const GROUP = 'rbac.authorization.k8s.io';

interface Stored {
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
  readonly object: JsonObject;
}

/** Roles and bindings by name; a name with a slash has a namespace. */
function authorizerOf(objects: Readonly<Record<string, JsonObject>>) {
  const stored = Object.entries(objects).map(([path, object]): Stored => {
    const [storage = '', name = '', inNamespace] = path.split('/');
    return {
      storage: `${storage}.${GROUP}`,
      namespace: inNamespace === undefined ? '' : name,
      name: inNamespace ?? name,
      object,
    };
  });
  const store = {
    get: (key: Omit<Stored, 'object'>) =>
      stored.find(
        (one) => one.storage === key.storage && one.namespace === key.namespace && one.name === key.name,
      ),
    list: (storage: string) => stored.filter((one) => one.storage === storage),
  };
  return new Authorizer(store as unknown as ObjectStore);
}

const user = (name: string, ...groups: string[]) => ({ name, groups });
const rule = (verb: string, resource: string) => ({ verbs: [verb], apiGroups: [''], resources: [resource] });
const binding = (kind: string, role: string, ...subjects: JsonObject[]): JsonObject => ({
  roleRef: { apiGroup: GROUP, kind, name: role },
  subjects,
});
const ada = { kind: 'User', name: 'ada' };
const list = (resource: string, namespace?: string) => ({ verb: 'list', group: '', resource, namespace });

const authorizer = authorizerOf({
  'roles/team/readers': { rules: [rule('list', 'pods')] },
  'roles/other/readers': { rules: [rule('list', 'secrets')] },
  'clusterroles/readers': {
    rules: [rule('list', 'nodes'), { verbs: ['get'], nonResourceURLs: ['/metrics'] }],
  },
  'clusterroles/sum': {
    rules: [rule('list', 'never')],
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }, { matchLabels: {} }] },
  },
  'clusterroles/part': { metadata: { labels: { part: 'yes' } }, rules: [rule('list', 'events')] },
  'clusterroles/apart': { metadata: { labels: { part: 'no' } }, rules: [rule('list', 'leases')] },
  'rolebindings/team/ada': binding('Role', 'readers', ada),
  'rolebindings/other/ops': binding('ClusterRole', 'readers', { kind: 'Group', name: 'ops' }),
  'rolebindings/team/robot': binding('ClusterRole', 'sum', {
    kind: 'ServiceAccount',
    namespace: 'team',
    name: 'robot',
  }),
  'rolebindings/team/gone': binding('Role', 'absent', { kind: 'User', name: 'eve' }),
  'clusterrolebindings/grace': binding(
    'ClusterRole',
    'readers',
    { kind: 'User', name: 'grace' },
    { kind: 'Robot', name: 'ada' },
  ),
});

describe('the authorizer', () => {
  it.each([
    { who: user('ada'), question: list('pods', 'team'), want: true, name: 'a role, in its namespace' },
    { who: user('ada'), question: list('pods', 'other'), want: false, name: 'a role, in another namespace' },
    { who: user('ada'), question: list('pods'), want: false, name: 'a role, in all namespaces' },
    {
      who: user('ada'),
      question: list('secrets', 'other'),
      want: false,
      name: 'a role of the same name elsewhere',
    },
    { who: user('ada'), question: list('nodes'), want: false, name: 'a subject of an unknown kind' },
    { who: user('eve', 'ops'), question: list('nodes', 'other'), want: true, name: 'a group that is bound' },
    {
      who: user('ops'),
      question: list('nodes', 'other'),
      want: false,
      name: 'a user with the name of a group',
    },
    {
      who: user('x', 'ada'),
      question: list('pods', 'team'),
      want: false,
      name: 'a group with the name of a user',
    },
    {
      who: user('eve', 'ops'),
      question: list('nodes'),
      want: false,
      name: 'a ClusterRole that a RoleBinding binds, elsewhere',
    },
    {
      who: user('grace'),
      question: list('nodes'),
      want: true,
      name: 'a ClusterRoleBinding, at the cluster scope',
    },
    {
      who: user('grace'),
      question: list('nodes', 'any'),
      want: true,
      name: 'a ClusterRoleBinding, in a namespace',
    },
    { who: user('eve'), question: list('pods', 'team'), want: false, name: 'a role that is not there' },
    {
      who: user('system:serviceaccount:team:robot'),
      question: list('events', 'team'),
      want: true,
      name: 'an aggregated role',
    },
    {
      who: user('system:serviceaccount:team:robot'),
      question: list('leases', 'team'),
      want: false,
      name: 'a role that is not selected',
    },
    {
      who: user('system:serviceaccount:team:robot'),
      question: list('never', 'team'),
      want: false,
      name: 'the own rules of an aggregated role',
    },
    {
      who: user('robot'),
      question: list('events', 'team'),
      want: false,
      name: 'a user with the name of a service account',
    },
    { who: user('x', 'system:masters'), question: list('secrets'), want: true, name: 'a master' },
  ])('$name: $want', ({ who, question, want }) => {
    expect(authorizer.allows(who, question)).toBe(want);
  });

  it.each([
    { who: user('grace'), path: '/metrics', want: true },
    { who: user('grace'), path: '/healthz', want: false },
    { who: user('ada'), path: '/metrics', want: false },
    // A RoleBinding grants no path: it is about its namespace.
    { who: user('eve', 'ops'), path: '/metrics', want: false },
    { who: user('x', 'system:masters'), path: '/metrics', want: true },
  ])('$who.name may get $path: $want', ({ who, path, want }) => {
    expect(authorizer.allowsPath(who, 'get', path)).toBe(want);
  });

  it('lists the rules of a user in a namespace, and everything for a master', () => {
    const resources = (who: ReturnType<typeof user>, namespace: string) =>
      authorizer.rulesFor(who, namespace).map((one) => one.resources.join());
    expect(resources(user('ada'), 'team')).toEqual(['pods']);
    expect(resources(user('ada'), '')).toEqual([]);
    expect(resources(user('x', 'system:masters'), '')).toEqual(['*', '']);
  });

  it('forgets what it read when an object changes', () => {
    const objects: Record<string, JsonObject> = {
      'clusterroles/readers': { rules: [rule('list', 'nodes')] },
    };
    const bindings: Stored[] = [];
    const store = {
      get: () => ({ object: objects['clusterroles/readers'] }),
      list: (storage: string) => bindings.filter((one) => one.storage === storage),
    };
    const changing = new Authorizer(store as unknown as ObjectStore);
    expect(changing.allows(user('ada'), list('nodes'))).toBe(false);
    const storage = `clusterrolebindings.${GROUP}`;
    bindings.push({ storage, namespace: '', name: 'b', object: binding('ClusterRole', 'readers', ada) });
    expect(changing.allows(user('ada'), list('nodes'))).toBe(false);
    changing.invalidate();
    expect(changing.allows(user('ada'), list('nodes'))).toBe(true);
  });
});
