import { describe, expect, it } from 'vitest';
import { valueAt, withoutFields } from '@berth/kube/model/field-path';
import { findField } from '../../../../src/core/sync/applied/field-names.ts';
import { fieldHolders } from '../../../../src/core/sync/applied/field-holders.ts';

const VALUE = {
  metadata: {
    labels: { 'app.kubernetes.io/name': 'web', app: 'a', 'x[y]': 'z' },
    finalizers: ['a/b', 'c'],
  },
  spec: {
    replicas: 3,
    ports: [
      { port: 80, protocol: 'TCP', name: 'http' },
      { port: 80, protocol: 'UDP', name: 'quic' },
    ],
    taints: [{ key: 'a,effect="b"', effect: 'NoSelect', value: 'v' }],
    list: [['x'], ['y']],
    defaulted: [{ port: 53, protocol: 'UDP' }, { port: 53 }],
  },
};

const NAMES: readonly [string, readonly (string | number)[]][] = [
  ['.spec.replicas', ['spec', 'replicas']],
  ['.metadata.labels.app', ['metadata', 'labels', 'app']],
  ['.metadata.labels.app.kubernetes.io/name', ['metadata', 'labels', 'app.kubernetes.io/name']],
  ['.metadata.labels.x[y]', ['metadata', 'labels', 'x[y]']],
  ['.metadata.finalizers[="c"]', ['metadata', 'finalizers', 1]],
  ['.spec.ports[port=80,protocol="UDP"].name', ['spec', 'ports', 1, 'name']],
  ['.spec.ports[port=80,protocol="TCP"]', ['spec', 'ports', 0]],
  ['.spec.taints[effect="NoSelect",key="a,effect=\\"b\\""].value', ['spec', 'taints', 0, 'value']],
  ['.spec.list[1]', ['spec', 'list', 1]],
  ['.spec.defaulted[port=53,protocol="TCP"].port', ['spec', 'defaulted', 1, 'port']],
  ['', []],
];

describe('the name of a field in a conflict', () => {
  it.each(NAMES)('%s is found', (name, path) => expect(findField(VALUE, name)).toEqual(path));

  it.each([
    '.spec.replica',
    '.spec.replicas.x',
    '.spec.ports[port=8,protocol="TCP"].name',
    '.spec.ports[port=80,protocol="TCP"',
    '.spec.ports[]',
    '.metadata.finalizers[="d"]',
    'spec',
    '.toString',
  ])('%s is not', (name) => expect(findField(VALUE, name)).toBeUndefined());
});

describe('a value without some fields', () => {
  it('has the others, and no empty rests; items keep what identifies them', () => {
    const paths = [
      '.metadata.finalizers[="a/b"]',
      '.metadata.labels.app',
      '.spec.ports[port=80,protocol="UDP"].name',
      '.spec.list[0]',
      '.spec.list[1]',
    ].map((name) => findField(VALUE, name) ?? []);
    expect(withoutFields(VALUE, paths)).toEqual({
      metadata: { labels: { 'app.kubernetes.io/name': 'web', 'x[y]': 'z' }, finalizers: ['c'] },
      spec: {
        replicas: 3,
        ports: [
          { port: 80, protocol: 'TCP', name: 'http' },
          { port: 80, protocol: 'UDP' },
        ],
        taints: VALUE.spec.taints,
        defaulted: VALUE.spec.defaulted,
      },
    });
    expect(VALUE.spec.list).toHaveLength(2);
  });

  it('tells the value of a path', () => {
    expect(valueAt(VALUE, ['spec', 'ports', 1, 'name'])).toBe('quic');
    expect(valueAt(VALUE, ['spec', 'replicas', 'x'])).toBeUndefined();
  });
});

describe('the owners of a field', () => {
  const live = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'web',
      managedFields: [
        {
          manager: 'tool',
          operation: 'Update',
          fieldsV1: {
            'f:metadata': { 'f:finalizers': { '.': {}, 'v:"c"': {} } },
            'f:spec': {
              'f:ports': { 'k:{"port":80,"protocol":"UDP"}': { '.': {}, 'f:name': {} } },
              'f:list': { 'i:1': {} },
            },
          },
        },
        { manager: 'berth', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
        {
          manager: 'berth',
          operation: 'Update',
          subresource: 'scale',
          fieldsV1: { 'f:spec': { 'f:replicas': {} } },
        },
      ],
    },
  };

  it.each([
    ['.spec.ports[port=80,protocol="UDP"].name', 'tool'],
    ['.spec.ports[port=80,protocol="UDP"]', 'tool'],
    ['.metadata.finalizers[="c"]', 'tool'],
    ['.metadata.finalizers', 'tool'],
    ['.spec.list[1]', 'tool'],
    ['.spec.replicas', 'berth'],
    ['.spec.ports', undefined],
    ['.spec.ports[port=80,protocol="TCP"].name', undefined],
    ['.spec.list[2]', undefined],
  ])('%s: %s', (name, manager) => {
    expect(fieldHolders(live, name, 'berth').map((holder) => holder.manager)).toEqual(
      manager === undefined ? [] : [manager],
    );
  });
});
