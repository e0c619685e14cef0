import { describe, expect, it } from 'vitest';
import { withFieldsOf } from '@berth/kube/model/field-path';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  assignedFields,
  differencesOutsideManifest,
  keepableFields,
  othersFieldsOutsideManifest,
} from '../../../src/rules/update/fields-outside-manifest.ts';

describe('differences in what a manifest does not name', () => {
  const manifest = { spec: { a: 1, map: { x: 1 }, list: [{ name: 'one' }] } };
  it.each<{ name: string; before: unknown; after: unknown; want: readonly unknown[] }>([
    { name: 'none', before: { spec: { a: 1 } }, after: { spec: { a: 1 } }, want: [] },
    { name: 'a field that is named', before: { spec: { a: 2 } }, after: { spec: { a: 1 } }, want: [] },
    { name: 'a field that went', before: { spec: { b: 1 } }, after: { spec: {} }, want: [['spec', 'b']] },
    {
      name: 'a field that got its default',
      before: { spec: { b: 2 } },
      after: { spec: { b: 1 } },
      want: [['spec', 'b']],
    },
    {
      name: 'inside a map and an item of a list',
      before: { spec: { map: { x: 1, y: 1 }, list: [{ name: 'one', z: 1 }] } },
      after: { spec: { map: { x: 1 }, list: [{ name: 'one' }] }, other: 1 },
      want: [['spec', 'map', 'y'], ['spec', 'list', 0, 'z'], ['other']],
    },
    {
      name: 'an item more in a list that is named',
      before: { spec: { list: [{ name: 'one' }, { name: 'two' }] } },
      after: { spec: { list: [{ name: 'one' }] } },
      want: [],
    },
    { name: 'a map that is no map', before: { spec: 'x' }, after: { spec: {} }, want: [] },
  ])('$name', ({ before, after, want }) => {
    expect(differencesOutsideManifest(before, after, manifest)).toEqual(want);
  });
});

describe('fields of others that a manifest does not name', () => {
  const entry = (manager: string, fieldsV1: object, subresource = '') => ({ manager, fieldsV1, subresource });
  const live = (...managedFields: object[]): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'a', managedFields },
    spec: {
      replicas: 3,
      list: [
        { name: 'one', image: 'x', extra: 1 },
        { name: 'two', image: 'y' },
      ],
    },
  });
  const content = { spec: { image: 'x', list: [{ name: 'one', image: 'x' }, { name: 'two' }] } };
  it.each<{ name: string; entries: readonly object[]; want: readonly unknown[] }>([
    { name: 'ours', entries: [entry('work-agent', { 'f:spec': { 'f:replicas': {} } })], want: [] },
    { name: 'of a status', entries: [entry('kcm', { 'f:spec': { 'f:replicas': {} } }, 'status')], want: [] },
    {
      name: 'of the scale of a Deployment',
      entries: [entry('hpa', { 'f:spec': { 'f:replicas': {} } }, 'scale')],
      want: [['spec', 'replicas']],
    },
    { name: 'of the metadata', entries: [entry('kcm', { 'f:metadata': { 'f:labels': {} } })], want: [] },
    { name: 'named', entries: [entry('kcm', { 'f:spec': { 'f:image': {} } })], want: [] },
    { name: 'gone since', entries: [entry('kcm', { 'f:spec': { 'f:gone': {} } })], want: [] },
    {
      name: 'of two managers',
      entries: [
        entry('kcm', { 'f:spec': { '.': {}, 'f:replicas': {} } }),
        entry('hpa', { 'f:spec': { 'f:replicas': {} } }),
      ],
      want: [['spec', 'replicas']],
    },
    {
      name: 'in items of a list',
      entries: [
        entry('mesh', {
          'f:spec': {
            'f:list': {
              'k:{"name":"one"}': { '.': {}, 'f:image': {}, 'f:extra': {} },
              'k:{"name":"two"}': { 'f:image': {} },
              'k:{"name":"three"}': { 'f:image': {} },
            },
          },
        }),
      ],
      want: [
        ['spec', 'list', 0, 'extra'],
        ['spec', 'list', 1, 'image'],
      ],
    },
  ])('$name', ({ entries, want }) => {
    expect(othersFieldsOutsideManifest(live(...entries), content, 'work-agent')).toEqual(want);
  });
});

describe('fields that a manifest does not name and that may have to stay', () => {
  const job = (...managedFields: object[]): KubeObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'a', managedFields },
    spec: {
      backoffLimit: 6,
      selector: { matchLabels: { uid: '1' } },
      template: {
        metadata: { labels: { uid: '1' } },
        spec: { containers: [{ name: 'c', image: 'x', pull: 'y' }] },
      },
      volume: 'v',
    },
  });
  const content = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    spec: { template: { spec: { containers: [{ name: 'c', image: 'x' }] } } },
  };
  const container = { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:pull': {} } } };
  const own = {
    manager: 'work-agent',
    fieldsV1: { 'f:spec': { 'f:backoffLimit': {}, 'f:template': { 'f:spec': container } } },
  };
  const other = { manager: 'kcm', fieldsV1: { 'f:spec': { 'f:volume': {} } } };
  const status = { manager: 'kcm', subresource: 'status', fieldsV1: { 'f:status': { 'f:active': {} } } };
  const [backoff, volume] = [
    ['spec', 'backoffLimit'],
    ['spec', 'volume'],
  ];
  const assigned = [
    ['spec', 'selector'],
    ['spec', 'template', 'metadata'],
  ];
  const pull = ['spec', 'template', 'spec', 'containers', 0, 'pull'];
  it.each<{ name: string; live: KubeObject; assigned: readonly unknown[]; keepable: readonly unknown[][] }>([
    {
      name: 'the server gave some, a controller one, and we the rest',
      live: job(own, other, status),
      assigned,
      keepable: [
        [...assigned, volume],
        [backoff, ...assigned, pull, volume],
      ],
    },
    {
      name: 'an owner of a map owns what is in it',
      live: job({ manager: 'work-agent', fieldsV1: { 'f:spec': {} } }),
      assigned: [],
      keepable: [[backoff, ...assigned, pull, volume]],
    },
    {
      name: 'nothing is known about managers',
      live: job(),
      assigned: [],
      keepable: [[backoff, ...assigned, pull, volume]],
    },
    { name: 'nothing is left', live: { ...job(own), ...content }, assigned: [], keepable: [] },
  ])('$name', ({ live, assigned: wantAssigned, keepable }) => {
    expect(assignedFields(live, content)).toEqual(wantAssigned);
    expect(keepableFields(live, content, 'work-agent').map((paths) => [...paths].sort())).toEqual(
      keepable.map((paths) => [...paths].sort()),
    );
  });
});

describe('a value with fields of another one', () => {
  const other = { spec: { replicas: 3, image: 'live', list: [{ name: 'a', extra: 1 }] }, more: 1 };
  it.each<{ name: string; value: unknown; paths: readonly (readonly (string | number)[])[]; want: unknown }>([
    { name: 'none', value: { spec: {} }, paths: [], want: { spec: {} } },
    {
      name: 'a field that it lacks',
      value: { spec: {} },
      paths: [['spec', 'replicas'], ['more']],
      want: { spec: { replicas: 3 }, more: 1 },
    },
    {
      name: 'a field that is null in it',
      value: { spec: { replicas: null } },
      paths: [['spec', 'replicas']],
      want: { spec: { replicas: 3 } },
    },
    {
      name: 'not one that it has',
      value: { spec: { image: 'own' } },
      paths: [['spec', 'image']],
      want: { spec: { image: 'own' } },
    },
    { name: 'not inside what it lacks', value: {}, paths: [['spec', 'replicas']], want: {} },
    { name: 'not one that is gone', value: { spec: {} }, paths: [['spec', 'gone']], want: { spec: {} } },
    {
      name: 'in the same item',
      value: { spec: { list: [{ name: 'a' }] } },
      paths: [['spec', 'list', 0, 'extra']],
      want: { spec: { list: [{ name: 'a', extra: 1 }] } },
    },
    {
      name: 'not in another item',
      value: { spec: { list: [{ name: 'b' }] } },
      paths: [['spec', 'list', 0, 'extra']],
      want: { spec: { list: [{ name: 'b' }] } },
    },
    {
      name: 'not in a list of another length',
      value: { spec: { list: [{ name: 'a' }, { name: 'b' }] } },
      paths: [['spec', 'list', 0, 'extra']],
      want: { spec: { list: [{ name: 'a' }, { name: 'b' }] } },
    },
  ])('$name', ({ value, paths, want }) => expect(withFieldsOf(value, other, paths)).toEqual(want));
});
