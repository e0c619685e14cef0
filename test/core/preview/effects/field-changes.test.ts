import { describe, expect, it } from 'vitest';
import { fieldChanges } from '../../../../src/core/preview/effects/field-changes.ts';

const deployment = (image: string, more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: { containers: [{ name: 'app', image }, { name: 'proxy' }], ...more },
});
const secret = (data: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', ...metadata },
  ...data,
});

describe('fieldChanges', () => {
  it.each([
    { name: 'nothing', before: deployment('a'), after: deployment('a'), want: [] },
    {
      name: 'a field deep inside',
      before: deployment('a'),
      after: deployment('b'),
      want: [{ path: 'spec.containers[0].image', before: '"a"', after: '"b"' }],
    },
    {
      name: 'a field that comes',
      before: deployment('a'),
      after: deployment('a', { replicas: 2 }),
      want: [{ path: 'spec.replicas', before: undefined, after: '2' }],
    },
    {
      name: 'a key that is a name of JavaScript',
      before: { spec: {} },
      after: { spec: { toString: 'x', constructor: 'y' } },
      want: [
        { path: 'spec.constructor', before: undefined, after: '"y"' },
        { path: 'spec.toString', before: undefined, after: '"x"' },
      ],
    },
    {
      name: 'named items in another order',
      before: { list: [{ name: 'a', v: 1 }, { name: 'b' }] },
      after: { list: [{ name: 'b' }, { name: 'a', v: 2 }] },
      want: [{ path: 'list[1].v', before: '1', after: '2' }],
    },
    {
      name: 'a named item that goes',
      before: { list: [{ name: 'a' }, { name: 'b' }] },
      after: { list: [{ name: 'b' }] },
      want: [{ path: 'list[0]', before: '{"name":"a"}', after: undefined }],
    },
    {
      name: 'a list of values by place',
      before: { list: ['x', 'y'] },
      after: { list: ['x'] },
      want: [{ path: 'list[1]', before: '"y"', after: undefined }],
    },
    {
      name: 'no value of a Secret',
      before: secret({ data: { password: 'b2xk' } }),
      after: secret({ data: { password: 'bmV3', user: 'eA==' }, stringData: { token: 'abc' } }),
      want: [
        { path: 'data.password', before: undefined, after: undefined, secret: true },
        { path: 'data.user', before: undefined, after: undefined, secret: true },
        { path: 'stringData', before: undefined, after: undefined, secret: true },
      ],
    },
    {
      name: 'no annotation of a Secret, which may repeat it, but its labels',
      before: secret({}, { labels: { a: '1' }, annotations: { copy: 'hunter2' } }),
      after: secret({}, { labels: { a: '2' }, annotations: { copy: 'hunter3' } }),
      want: [
        { path: 'metadata.annotations.copy', before: undefined, after: undefined, secret: true },
        { path: 'metadata.labels.a', before: '"1"', after: '"2"' },
      ],
    },
    {
      name: 'no Secret that becomes something else',
      before: secret({ data: { password: 'hunter2' } }),
      after: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 's' }, data: { password: 'x' } },
      want: [
        { path: 'data.password', before: undefined, after: undefined, secret: true },
        { path: 'kind', before: '"Secret"', after: '"ConfigMap"' },
      ],
    },
    {
      name: 'no Secret inside a list',
      before: { items: [] },
      after: { items: [secret({ data: { password: 'hunter2' } })] },
      want: [
        {
          path: 'items[0]',
          before: undefined,
          after: '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}',
        },
      ],
    },
  ])('gives $name', ({ before, after, want }) => {
    expect(fieldChanges(before, after)).toEqual(want);
  });

  it('gives no value of a Secret that changes inside a list', () => {
    const of = (password: string): object => ({ items: [secret({ data: { password } })] });
    expect(JSON.stringify(fieldChanges(of('hunter2'), of('hunter3')))).not.toContain('hunter');
  });

  it('cuts long values, and lists of fields', () => {
    const fields = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, at]));
    expect(fieldChanges({}, fields)).toHaveLength(51);
    expect(fieldChanges({}, fields).at(-1)?.path).toBe('… and 10 more fields');
    expect(fieldChanges({ a: '' }, { a: 'x'.repeat(10_000) })[0]?.after).toHaveLength(201);
  });
});
