import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/model/object-meta.ts';
import { sameRights } from '../../src/model/object-writes.ts';

const of = (content: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x' },
  ...content,
});
const rule = (apiGroups: string[], resources: string[], verbs: string[], resourceNames?: string[]) => ({
  ...{ apiGroups, resources, verbs },
  ...(resourceNames && { resourceNames }),
});
const role = (...rules: object[]): KubeObject => of({ rules });
const GROUP = { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'g' };

it.each([
  [
    'orders differ',
    role(rule(['a'], ['x', 'y'], ['get', 'list'])),
    role(rule(['a'], ['y', 'x'], ['list', 'get'])),
    true,
  ],
  [
    'one rule is cut into two',
    role(rule(['a'], ['x'], ['get', 'list'])),
    role(rule(['a'], ['x'], ['get']), rule(['a'], ['x'], ['list'])),
    true,
  ],
  [
    'a right is there twice',
    role(rule(['a'], ['x'], ['get', 'get'])),
    role(rule(['a'], ['x'], ['get'])),
    true,
  ],
  [
    'one has a verb more',
    role(rule(['a'], ['x'], ['get'])),
    role(rule(['a'], ['x'], ['get', 'list'])),
    false,
  ],
  ['one has a name', role(rule(['a'], ['x'], ['get'], ['n'])), role(rule(['a'], ['x'], ['get'])), false],
  [
    'one has a right without a resource',
    role(),
    role({ nonResourceURLs: ['/metrics'], verbs: ['get'] }),
    false,
  ],
  ['rules are missing', of({}), of({ rules: [] }), true],
  [
    'the defaults of a subject are written out',
    of({ subjects: [GROUP] }),
    of({ subjects: [{ kind: 'Group', name: 'g', namespace: '' }] }),
    true,
  ],
  ['a subject is another', of({ subjects: [GROUP] }), of({ subjects: [{ ...GROUP, kind: 'User' }] }), false],
  [
    'a subject is added',
    of({ subjects: [GROUP] }),
    of({ subjects: [GROUP, { ...GROUP, name: 'h' }] }),
    false,
  ],
  ['the role is another', of({ roleRef: { name: 'a' } }), of({ roleRef: { name: 'b' } }), false],
])('when %s', (_, left, right, want) => {
  expect(sameRights(left, right)).toBe(want);
});
