import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/json-value.ts';
import type { LooseJson } from '../loose-json.ts';
import { PipelineStore } from './pipeline-store.ts';

const CM = '/api/v1/namespaces/ns/configmaps';
const PL = '/apis/cluster.open-cluster-management.io/v1beta1/namespaces/ns/placements';

const cm = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
});

function made(path: string, body: unknown): { store: PipelineStore; object: LooseJson } {
  const store = new PipelineStore();
  const answer = store.send('POST', path, body);
  expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ metadata: { uid: 'uid-0' } });
  return { store, object: answer.body };
}

describe('creation', () => {
  it('fills in what the server decides', () => {
    const { object } = made(PL, {
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'Placement',
      metadata: {
        name: 'p',
        uid: 'mine',
        generation: 9,
        creationTimestamp: '2000-01-01T00:00:00Z',
        labels: {},
        annotations: null,
      },
      spec: {},
      status: { numberOfSelectedClusters: 4 },
    });
    expect(object.metadata).toMatchObject({
      uid: 'uid-0',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      namespace: 'ns',
    });
    expect(object.metadata).not.toHaveProperty('labels');
    expect(object).not.toHaveProperty('status');
  });

  it('makes names from generateName', () => {
    expect(made(CM, { metadata: { generateName: 'x-' } }).object.metadata.name).toBe('x-abcde');
  });

  it.each<{ name: string; path: string; body: unknown; code: number; message: string | RegExp }>([
    {
      name: 'no name',
      path: CM,
      body: { metadata: {} },
      code: 422,
      message: 'metadata.name: Required value: name or generateName is required',
    },
    {
      name: 'resourceVersion',
      path: CM,
      body: cm('a', { metadata: { name: 'a', resourceVersion: '1' } }),
      code: 400,
      message: 'resourceVersion should not be set on objects to be created',
    },
    {
      name: 'another version',
      path: CM,
      body: { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'a' } },
      code: 400,
      message: /does not match the expected API version \(v1\)/,
    },
    {
      name: 'another kind',
      path: CM,
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } },
      code: 400,
      message: /does not match the expected kind/,
    },
    { name: 'a list for an object', path: CM, body: [], code: 400, message: /expected an object, got array/ },
    {
      name: 'a number for a text',
      path: CM,
      body: cm('a', { data: { a: 1 } }),
      code: 400,
      message:
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    },
    {
      name: 'a bad label',
      path: CM,
      body: cm('a', { metadata: { name: 'a', labels: { 'a b': 'x' } } }),
      code: 422,
      message: /metadata.labels: Invalid value: "a b"/,
    },
    {
      name: 'a bad key',
      path: CM,
      body: cm('a', { data: { 'a/b': '' } }),
      code: 422,
      message: /a valid config key/,
    },
    {
      name: 'a Secret that is no base64',
      path: '/api/v1/namespaces/ns/secrets',
      body: { metadata: { name: 'a' }, data: { a: '!' } },
      code: 400,
      message: /illegal base64/,
    },
    {
      name: 'a TLS Secret without key',
      path: '/api/v1/namespaces/ns/secrets',
      body: { metadata: { name: 'a' }, type: 'kubernetes.io/tls', data: { 'tls.crt': '' } },
      code: 422,
      message: /data\[tls.key\]: Required value/,
    },
    {
      name: 'a Deployment without selector',
      path: '/apis/apps/v1/namespaces/ns/deployments',
      body: { metadata: { name: 'a' }, spec: { template: {} } },
      code: 422,
      message: /spec.selector: Required value/,
    },
    {
      name: 'a Deployment whose selector misses',
      path: '/apis/apps/v1/namespaces/ns/deployments',
      body: {
        metadata: { name: 'a' },
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'c' } }, spec: { containers: [{ name: 'x' }] } },
        },
      },
      code: 422,
      message: /`selector` does not match template `labels`/,
    },
    {
      name: 'an owner without uid',
      path: CM,
      body: cm('a', {
        metadata: { name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x' }] },
      }),
      code: 422,
      message: /metadata.ownerReferences.uid/,
    },
  ])('refuses $name', ({ path, body, code, message }) => {
    const answer = new PipelineStore().send('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(code);
    expect(answer.body['message']).toMatch(message);
  });

  it('reports duplicate and unknown fields as strictly as it is asked', () => {
    const body =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","x":"2"},"foo":1}';
    const send = (level: string): ReturnType<PipelineStore['send']> =>
      new PipelineStore().send('POST', `${CM}?fieldValidation=${level}`, body);
    const strict = send('Strict');
    expect(strict.status).toBe(400);
    expect(strict.body['message']).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.x", unknown field "foo"',
    );
    const warned = send('Warn');
    expect([warned.status, warned.warnings]).toEqual([
      201,
      ['duplicate field "data.x"', 'unknown field "foo"'],
    ]);
    expect(warned.body).not.toHaveProperty('foo');
    expect(send('Ignore')).toMatchObject({ status: 201, warnings: [] });
  });

  it('encodes stringData of a Secret', () => {
    const { object } = made('/api/v1/namespaces/ns/secrets', {
      metadata: { name: 's' },
      stringData: { a: 'é' },
      data: { b: 'Yg==' },
    });
    expect(object).toMatchObject({ type: 'Opaque', data: { a: 'w6k=', b: 'Yg==' } });
    expect(object).not.toHaveProperty('stringData');
  });

  it('keeps prototype names as plain keys', () => {
    const body =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"__proto__":"x","constructor":"y"}}';
    const { object } = made(CM, body);
    expect(Object.keys(object.data)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(object.data)).toBe(Object.prototype);
  });
});

describe('updates', () => {
  it("keeps what is the server's, whatever is sent", () => {
    const { store, object } = made(CM, cm('a', { data: { x: '1' } }));
    const sent = {
      ...object,
      metadata: {
        ...object.metadata,
        creationTimestamp: '1999-01-01T00:00:00Z',
        generation: 77,
        deletionTimestamp: '1999-01-01T00:00:00Z',
      },
      data: { x: '2' },
    };
    const { body } = store.send('PUT', `${CM}/a`, sent);
    expect(body['metadata']).toMatchObject({ creationTimestamp: '2026-01-01T00:00:00Z', uid: 'uid-0' });
    expect(body['metadata']).not.toHaveProperty('deletionTimestamp');
    expect(body['data']).toEqual({ x: '2' });
  });

  it('changes nothing when nothing changes', () => {
    const { store, object } = made(CM, cm('a', { data: { x: '1' } }));
    store.now = '2027-01-01T00:00:00Z';
    expect(store.send('PUT', `${CM}/a`, object).body['metadata']).toEqual(object.metadata);
    expect(
      store.send('PATCH', `${CM}/a`, { data: { x: '1' } }, 'application/merge-patch+json').body['metadata'],
    ).toEqual(object.metadata);
  });

  it('counts generations of specs, not of metadata or status', () => {
    const { store } = made(PL, {
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'Placement',
      metadata: { name: 'p' },
      spec: {},
    });
    const patch = (path: string, body: unknown): LooseJson =>
      store.send('PATCH', path, body, 'application/merge-patch+json').body;
    expect(patch(`${PL}/p`, { metadata: { labels: { a: 'b' } } }).metadata.generation).toBe(1);
    expect(
      patch(`${PL}/p/status`, { status: { numberOfSelectedClusters: 1 }, spec: { numberOfClusters: 9 } })
        .metadata.generation,
    ).toBe(1);
    const changed = patch(`${PL}/p`, {
      spec: { numberOfClusters: 2 },
      status: { numberOfSelectedClusters: 5 },
    });
    expect(changed.metadata.generation).toBe(2);
    expect(changed.status).toEqual({ numberOfSelectedClusters: 1 });
    expect(changed.spec.numberOfClusters).toBe(2);
  });

  it.each<{ name: string; change: (object: LooseJson) => unknown; code: number; message: RegExp }>([
    {
      name: 'a stale resourceVersion',
      change: (one) => ({ ...one, metadata: { ...one.metadata, resourceVersion: '0' } }),
      code: 409,
      message: /the object has been modified/,
    },
    {
      name: 'another uid',
      change: (one) => ({ ...one, metadata: { ...one.metadata, uid: 'x' } }),
      code: 409,
      message: /UID in precondition: x, UID in object meta: uid-0/,
    },
    {
      name: 'another name',
      change: (one) => ({ ...one, metadata: { ...one.metadata, name: 'b' } }),
      code: 400,
      message: /does not match the name on the URL/,
    },
    {
      name: 'another namespace',
      change: (one) => ({ ...one, metadata: { ...one.metadata, namespace: 'b' } }),
      code: 400,
      message: /namespace of the provided object does not match/,
    },
  ])('refuses $name', ({ change, code, message }) => {
    const { store, object } = made(CM, cm('a'));
    const answer = store.send('PUT', `${CM}/a`, change(object));
    expect(answer.status).toBe(code);
    expect(answer.body['message']).toMatch(message);
  });

  it('asks for a resourceVersion where a custom resource is replaced', () => {
    const { store, object } = made(PL, {
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'Placement',
      metadata: { name: 'p' },
      spec: {},
    });
    const { resourceVersion: _rv, ...metadata } = object.metadata;
    expect(store.send('PUT', `${PL}/p`, { ...object, metadata })).toMatchObject({ status: 422 });
  });

  it('lets an object that was invalid before change elsewhere', () => {
    const { store, object } = made(PL, {
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'Placement',
      metadata: { name: 'p' },
      spec: {},
    });
    const key = [...store.objects.keys()][0] as string;
    store.objects.set(key, { ...object, spec: { numberOfClusters: 'many' } });
    const merge = 'application/merge-patch+json';
    expect(store.send('PATCH', `${PL}/p`, { metadata: { finalizers: ['x.io/y'] } }, merge).status).toBe(200);
    expect(store.send('PATCH', `${PL}/p`, { spec: { tolerations: 'x' } }, merge).status).toBe(422);
  });

  it('holds what is immutable', () => {
    const { store } = made(CM, cm('a', { immutable: true, data: { x: '1' } }));
    const answer = store.send('PATCH', `${CM}/a`, { data: { x: '2' } }, 'application/merge-patch+json');
    expect(answer.body['message']).toMatch(/data: Forbidden: field is immutable when `immutable` is set/);
  });

  it('takes no new finalizers on an object that is being deleted', () => {
    const { store, object } = made(CM, cm('a', { metadata: { name: 'a', finalizers: ['x.io/a'] } }));
    const key = [...store.objects.keys()][0] as string;
    store.objects.set(key, {
      ...object,
      metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    });
    const merge = 'application/merge-patch+json';
    expect(
      store.send('PATCH', `${CM}/a`, { metadata: { finalizers: ['x.io/a', 'x.io/b'] } }, merge),
    ).toMatchObject({ status: 422 });
    expect(store.send('PATCH', `${CM}/a`, { metadata: { finalizers: null } }, merge)).toMatchObject({
      status: 200,
    });
  });

  it('scales through the scale subresource', () => {
    const path = '/apis/apps/v1/namespaces/ns/deployments';
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const { store } = made(path, {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { a: 'b' } }, template },
    });
    const merge = 'application/merge-patch+json';
    const scaled: LooseJson = store.send('PATCH', `${path}/d/scale`, { spec: { replicas: 4 } }, merge).body;
    expect([scaled.spec.replicas, scaled.metadata.generation]).toEqual([4, 2]);
    expect(scaled.metadata.managedFields.map((entry: LooseJson) => entry.subresource)).toContain('scale');
    expect(store.send('PATCH', `${path}/d/scale`, { spec: { replicas: -1 } }, merge).status).toBe(422);
  });
});
