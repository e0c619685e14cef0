import { describe, expect, it } from 'vitest';
import type { FieldChange } from '../../../src/core/preview/effects/plan-effects.ts';
import { contentChanges } from '../../../src/core/preview/content-changes.ts';
import { diffObjects } from '../../../src/core/preview/object-changes.ts';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { makePlan } from '../../../src/core/preview/make-plan.ts';
import { cluster, judges, placement, replicaSet, side } from './plan-fixture.ts';

const lines = (plan: Plan) => contentChanges(plan).map(({ subject, text }) => `${subject}: ${text}`);
const EMPTY = makePlan(side('a', [], {}), side('b', [], {}), judges);

describe('the values that a change sets', () => {
  it('are those of works on the clusters that keep them, and those of objects', () => {
    const documents = (image: string, count: number) => [
      ...['c1', 'c2'].map((name) => cluster(name)),
      placement('web', `{numberOfClusters: ${count}}`),
      replicaSet('web', 'web', image),
    ];
    const plan = makePlan(
      side('a', documents('v1', 1), { web: ['c1'] }),
      side('b', documents('v2', 2), { web: ['c1', 'c2'] }),
      judges,
    );
    expect(lines(plan)).toEqual([
      'shop/web: image v1 → v2, on c1',
      'Placement shop/web: numberOfClusters 1 → 2',
    ]);
  });

  it('are those of fields that differ in Git, also behind a key with points, and never those of a Secret', () => {
    const object = (kind: string, fields: object, metadata: object = {}) => ({
      object: { apiVersion: 'v1', kind, metadata: { name: 'a', namespace: 'shop', ...metadata }, ...fields },
    });
    const valuesOf = (kind: string, before: object, after: object) =>
      diffObjects(
        [object(kind, { data: before })] as never,
        [object(kind, { data: after }, { annotations: { note: 'x' } })] as never,
      ).flatMap(({ values = [] }) => values);
    expect(valuesOf('ConfigMap', { 'app.yaml': 'a', same: 's' }, { 'app.yaml': 'b', same: 's' })).toEqual([
      expect.objectContaining({ path: 'data["app.yaml"]', before: '"a"', after: '"b"' }),
      expect.objectContaining({ path: 'metadata.annotations', after: '{"note":"x"}' }),
    ]);
    const secret = valuesOf('Secret', { key: 'aGlkZGVu' }, { key: 'c2VjcmV0' });
    expect(secret).toContainEqual(expect.objectContaining({ path: 'data.key', secret: true }));
    expect(JSON.stringify(secret)).not.toMatch(/aGlkZGVu|c2VjcmV0/);
  });

  const field = (path: string, before?: string, after?: string): FieldChange => ({ path, before, after });
  const long = JSON.stringify('x'.repeat(101));
  it.each([
    { fields: [field('spec.image', '"r.io/a/web:v5"', '"r.io/a/web:v6"')], want: 'image v5 → v6' },
    { fields: [field('spec.image', '"a/web:v5"', '"b/web:v5"')], want: 'image a/web:v5 → b/web:v5' },
    { fields: [field('spec.replicas', undefined, '3')], want: 'replicas not set → 3' },
    { fields: [field('spec.taints', undefined, '[{"key":"a"}]')], want: 'taints is added: key a' },
    { fields: [field('spec.taints', '[{"key":"a"}]')], want: 'taints is removed: key a' },
    {
      fields: [field('spec.taints[0]', undefined, '{"key":"a","effect":"NoSelect","n":1}')],
      want: 'taints[0] is added: key a, effect NoSelect, n 1',
    },
    ...['[{"key":"a"},{"key":"b"}]', '{"a":{"b":"c"}}', '{"a":"\\n"}', `{"a":${long}}`, '{}'].map(
      (after) => ({
        fields: [field('spec.x', undefined, after)],
        want: 'x is added',
      }),
    ),
    { fields: [field('spec.text', long, '"b"')], want: 'text changes' },
    { fields: [field('metadata.labels["a.b/c"]', '"x"', '"y"')], want: 'a.b/c x → y' },
    { fields: [{ ...field('data.key'), secret: true }], want: 'key changes (secret)' },
    {
      fields: [field('spec.a.cpu', '"1"', '"2"'), field('spec.b.cpu', '"3"', '"4"')],
      want: 'spec.a.cpu 1 → 2, spec.b.cpu 3 → 4',
    },
    {
      fields: Array.from({ length: 8 }, (_, at) => field(`spec.f${at}`, '1', '2')),
      want: `${[0, 1, 2, 3, 4, 5].map((at) => `f${at} 1 → 2`).join(', ')}, and 2 more`,
    },
  ] satisfies readonly { fields: readonly FieldChange[]; want: string }[])(
    'are short: $want',
    ({ fields, want }) => {
      const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a' };
      const location = { file: 'a.yaml', line: 1, column: 1 };
      const plan: Plan = {
        ...EMPTY,
        objects: [{ change: 'changed', ref, fields: [], values: fields, location }],
      };
      expect(lines(plan)).toEqual([`ConfigMap shop/a: ${want}`]);
    },
  );

  it('are not compared for many objects', () => {
    const version = (value: string) =>
      Array.from({ length: 250 }, (_, at) => ({
        object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `s${at}` }, data: { value } },
        location: { file: 'a.yaml', line: 1, column: 1 },
      }));
    const changes = diffObjects(version('a'), version('b'));
    expect(changes).toHaveLength(250);
    expect(changes.filter(({ values }) => values !== undefined)).toHaveLength(200);
  });
});
