import { describe, expect, it } from 'vitest';
import { escalationCheck } from '../../src/admission/escalation.ts';
import { Authorizer, RBAC_GROUP } from '../../src/auth/rbac/authorizer.ts';
import type { JsonObject } from '../../src/json/json-value.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import type { AdmissionWrite } from '../../src/write/write-request.ts';

const read = { verbs: ['get'], apiGroups: [''], resources: ['configmaps'] };
const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const aggregated = (labels: JsonObject): JsonObject => ({
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
});

/** ada may read ConfigMaps; her role is `mine`. */
const STORED: Readonly<Record<string, JsonObject>> = {
  clusterroles: { metadata: { name: 'mine' }, rules: [read] },
  clusterrolebindings: {
    metadata: { name: 'ada' },
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: 'mine' },
    subjects: [{ kind: 'User', name: 'ada' }],
  },
};
const entryOf = (storage: string) => {
  const object = STORED[storage.replace(`.${RBAC_GROUP}`, '')];
  return object === undefined ? undefined : { namespace: '', object };
};
const store = {
  get: ({ storage }: { readonly storage: string }) => entryOf(storage),
  list: (storage: string) => [entryOf(storage)].filter((entry) => entry !== undefined),
};

function update(old: JsonObject, change: JsonObject): () => unknown {
  const named = { metadata: { name: 'mine' } };
  const write = {
    operation: 'UPDATE',
    ref: { definition: { group: RBAC_GROUP, plural: 'clusterroles' } },
    ...{ old: { ...named, ...old }, object: { ...named, ...old, ...change } },
    user: { name: 'ada', groups: [] },
    can: () => false,
  } as unknown as AdmissionWrite;
  return () => escalationCheck(new Authorizer(store as unknown as ObjectStore))(write);
}

const REFUSED = 'is attempting to grant RBAC permissions not currently held';

describe('who may update a role, but not escalate,', () => {
  it.each([
    { name: 'gives it labels', old: { rules: [everything] }, change: { metadata: { labels: { a: 'b' } } } },
    { name: 'gives it rules that they have', old: { rules: [] }, change: { rules: [read] } },
    {
      name: 'leaves its rules and its aggregation as they are',
      old: { rules: [read], ...aggregated({ a: 'b' }) },
      change: { metadata: { annotations: { a: 'b' } } },
    },
    {
      name: 'takes its aggregation away',
      old: { rules: [read], ...aggregated({ a: 'b' }) },
      change: { aggregationRule: null },
    },
  ])('$name', ({ old, change }) => {
    expect(update(old, change)()).toEqual([]);
  });

  it.each([
    { name: 'rules that they have not', old: { rules: [read] }, change: { rules: [everything] } },
    { name: 'an aggregation of every role', old: { rules: [read] }, change: aggregated({}) },
    { name: 'an aggregation of roles that may come', old: { rules: [read] }, change: aggregated({ a: 'b' }) },
    {
      name: 'an aggregation of other roles',
      old: { rules: [read], ...aggregated({ a: 'b' }) },
      change: aggregated({ 'kubernetes.io/bootstrapping': 'rbac-defaults' }),
    },
    { name: 'an aggregation beside rules that stay', old: {}, change: aggregated({}) },
  ])('does not give it $name', ({ old, change }) => {
    expect(update(old, change)).toThrow(REFUSED);
  });
});
