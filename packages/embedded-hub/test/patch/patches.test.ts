import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/json/json-value.ts';
import { applyJsonPatch } from '../../src/patch/json-patch.ts';
import { applyMergePatch, applyStrategicMergePatch } from '../../src/patch/strategic-merge-patch.ts';
import { builtinSchema } from '../../src/scheme/builtin/builtin-schemas.ts';
import { StatusError } from '../../src/wire/status-error.ts';

function refusal(run: () => unknown): number {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error.httpCode;
    throw error;
  }
  return 0;
}

const hostile = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"x": 1}}') as JsonObject;

describe('merge patch', () => {
  it.each<{ name: string; object: JsonObject; patch: JsonValue; want: JsonObject }>([
    { name: 'adds and replaces', object: { a: 1 }, patch: { a: 2, b: [1] }, want: { a: 2, b: [1] } },
    {
      name: 'removes with null',
      object: { a: { b: 1, c: 2 } },
      patch: { a: { b: null } },
      want: { a: { c: 2 } },
    },
    {
      name: 'makes objects without nulls',
      object: {},
      patch: { a: { b: { c: null } } },
      want: { a: { b: {} } },
    },
    { name: 'replaces lists whole', object: { a: [1, 2] }, patch: { a: [3] }, want: { a: [3] } },
  ])('$name', ({ object, patch, want }) => {
    const before = structuredClone(object);
    expect(applyMergePatch(object, patch)).toEqual(want);
    expect(object).toEqual(before);
  });

  it('treats prototype names as plain keys', () => {
    const result = applyMergePatch({}, hostile);
    expect(Object.keys(result)).toEqual(['__proto__', 'constructor']);
    expect(({} as JsonObject)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  });

  it('refuses a list', () => {
    expect(refusal(() => applyMergePatch({}, [1]))).toBe(400);
  });
});

describe('JSON patch', () => {
  const object = { data: { x: '1', 'a/b': '2' }, list: ['a', 'b'] };

  it.each<{ name: string; patch: JsonValue; want: JsonValue }>([
    {
      name: 'replace',
      patch: [{ op: 'replace', path: '/data/x', value: '9' }],
      want: { ...object, data: { x: '9', 'a/b': '2' } },
    },
    {
      name: 'remove with an escaped path',
      patch: [{ op: 'remove', path: '/data/a~1b' }],
      want: { ...object, data: { x: '1' } },
    },
    {
      name: 'append',
      patch: [{ op: 'add', path: '/list/-', value: 'c' }],
      want: { ...object, list: ['a', 'b', 'c'] },
    },
    {
      name: 'move',
      patch: [{ op: 'move', from: '/list/0', path: '/list/1' }],
      want: { ...object, list: ['b', 'a'] },
    },
    { name: 'passing test', patch: [{ op: 'test', path: '/data/x', value: '1' }], want: object },
  ])('$name', ({ patch, want }) => {
    expect(applyJsonPatch(object, patch)).toEqual(want);
  });

  it.each<{ name: string; patch: JsonValue; code: number }>([
    { name: 'failing test', patch: [{ op: 'test', path: '/data/x', value: '0' }], code: 422 },
    { name: 'missing path', patch: [{ op: 'remove', path: '/nope' }], code: 422 },
    {
      name: 'replace of a missing path',
      patch: [{ op: 'replace', path: '/data/nope', value: 1 }],
      code: 422,
    },
    { name: 'no list', patch: { op: 'add' }, code: 400 },
    { name: 'unknown operation', patch: [{ op: 'explode', path: '/a' }], code: 400 },
    { name: 'prototype path', patch: [{ op: 'add', path: '/__proto__/x', value: 1 }], code: 422 },
    {
      name: 'constructor path',
      patch: [{ op: 'add', path: '/constructor/prototype/x', value: 1 }],
      code: 422,
    },
    { name: 'whole document to a scalar', patch: [{ op: 'replace', path: '', value: 1 }], code: 422 },
  ])('refuses: $name', ({ patch, code }) => {
    expect(refusal(() => applyJsonPatch(object, patch))).toBe(code);
    expect(({} as JsonObject)['x']).toBeUndefined();
  });
});

describe('strategic merge patch', () => {
  const pod = builtinSchema('core.v1.Pod');
  const containers = (...items: JsonObject[]): JsonObject => ({ spec: { containers: items } });
  const [a, b] = [
    { name: 'a', image: 'i:1' },
    { name: 'b', image: 'i:2' },
  ];

  it.each<{ name: string; object: JsonObject; patch: JsonValue; want: JsonObject }>([
    {
      name: 'merges items by key and keeps the rest',
      object: containers(a, b),
      patch: containers({ name: 'b', image: 'new' }),
      want: containers(a, { name: 'b', image: 'new' }),
    },
    {
      name: 'puts new items first and deletes by directive',
      object: containers(a, b),
      patch: containers({ name: 'b', $patch: 'delete' }, { name: 'c', image: 'z' }),
      want: containers({ name: 'c', image: 'z' }, a),
    },
    {
      name: 'orders by $setElementOrder',
      object: containers(a, b),
      patch: { spec: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] } },
      want: containers(b, a),
    },
    {
      name: 'replaces a list by directive',
      object: containers(a, b),
      patch: containers({ $patch: 'replace' }, { name: 'z' }),
      want: containers({ name: 'z' }),
    },
    {
      name: 'replaces a map by directive',
      object: { spec: { nodeSelector: { x: '1', y: '2' } } },
      patch: { spec: { nodeSelector: { $patch: 'replace', z: '3' } } },
      want: { spec: { nodeSelector: { z: '3' } } },
    },
    {
      name: 'merges plain lists as sets',
      object: { metadata: { finalizers: ['a'] } },
      patch: { metadata: { finalizers: ['b', 'a'] } },
      want: { metadata: { finalizers: ['b', 'a'] } },
    },
    {
      name: 'deletes from plain lists',
      object: { metadata: { finalizers: ['a', 'b'] } },
      patch: { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } },
      want: { metadata: { finalizers: ['b'] } },
    },
    {
      name: 'keeps only retained keys of a union',
      object: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
      patch: {
        spec: { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }] },
      },
      want: { spec: { volumes: [{ name: 'v', configMap: { name: 'c' } }] } },
    },
    {
      name: 'replaces atomic lists',
      object: containers({ name: 'a', args: ['1', '2'] }),
      patch: containers({ name: 'a', args: ['3'] }),
      want: containers({ name: 'a', args: ['3'] }),
    },
    {
      name: 'removes with null',
      object: { metadata: { labels: { x: '1', y: '2' } } },
      patch: { metadata: { labels: { x: null } } },
      want: { metadata: { labels: { y: '2' } } },
    },
  ])('$name', ({ object, patch, want }) => {
    const before = structuredClone(object);
    expect(applyStrategicMergePatch(pod, object, patch)).toEqual(want);
    expect(object).toEqual(before);
  });

  it.each<{ name: string; patch: JsonValue }>([
    { name: 'an item without its key', patch: containers({ image: 'x' }) },
    { name: 'an unknown directive', patch: { spec: { $patch: 'explode' } } },
    { name: 'a scalar', patch: 'x' },
    {
      name: 'an order that is no list',
      patch: { spec: { '$setElementOrder/containers': 1, containers: [] } },
    },
  ])('refuses $name', ({ patch }) => {
    expect(refusal(() => applyStrategicMergePatch(pod, containers(a), patch))).toBe(400);
  });
});
