/* eslint-disable @typescript-eslint/no-explicit-any -- Tables are free-form JSON */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/json-value.ts';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { createScheme } from '../../src/scheme/create-scheme.ts';
import { definitionFromCrd } from '../../src/scheme/crd.ts';
import type { ResourceRef } from '../../src/schema/resource-definition.ts';
import { ageText, humanDuration } from '../../src/table/columns/column.ts';
import { renderTable } from '../../src/table/table.ts';

const scheme = createScheme(OCM_HUB_KINDS);
const NOW = Date.parse('2026-06-01T00:10:00Z');
const born = { creationTimestamp: '2026-06-01T00:00:00Z' };
const options = {
  listMeta: { resourceVersion: '7' },
  includeObject: 'Metadata',
  now: NOW,
  withColumns: true,
} as const;

function row(group: string, version: string, plural: string, object: JsonObject): Record<string, unknown> {
  const table = renderTable(scheme.resource(group, version, plural) as ResourceRef, [object], options) as any;
  return Object.fromEntries(
    table.columnDefinitions.map((one: any, index: number) => [one.name, table.rows[0].cells[index]]),
  );
}

describe('age', () => {
  it.each([
    [-5, '<invalid>'],
    [-1, '0s'],
    [0, '0s'],
    [119, '119s'],
    [120, '2m'],
    [150, '2m30s'],
    [600, '10m'],
    [3 * 3600 - 1, '179m'],
    [3 * 3600, '3h'],
    [3 * 3600 + 60, '3h1m'],
    [8 * 3600, '8h'],
    [47 * 3600, '47h'],
    [48 * 3600, '2d'],
    [50 * 3600, '2d2h'],
    [8 * 86400, '8d'],
    [729 * 86400, '729d'],
    [730 * 86400, '2y'],
    [740 * 86400, '2y10d'],
    [8 * 365 * 86400, '8y'],
  ])('%d s is %s', (seconds, want) => {
    expect(humanDuration(seconds * 1000)).toBe(want);
  });

  it('says when there is no time, or no such time', () => {
    expect([ageText(undefined, NOW), ageText(null, NOW), ageText('never', NOW)]).toEqual([
      '<unknown>',
      '<unknown>',
      '<invalid>',
    ]);
  });
});

describe('tables of built-in kinds', () => {
  it.each<{ name: string; group: string; plural: string; object: JsonObject; want: Record<string, unknown> }>(
    [
      {
        name: 'pod',
        group: '',
        plural: 'pods',
        object: {
          metadata: { name: 'p', ...born },
          spec: { containers: [{ name: 'a' }, { name: 'b' }], nodeName: 'n' },
          status: {
            phase: 'Running',
            containerStatuses: [
              { ready: true, restartCount: 2 },
              { state: { waiting: { reason: 'CrashLoopBackOff' } } },
            ],
          },
        },
        want: {
          Name: 'p',
          Ready: '1/2',
          Status: 'CrashLoopBackOff',
          Restarts: '2',
          Age: '10m',
          Node: 'n',
          IP: '<none>',
        },
      },
      {
        name: 'deployment',
        group: 'apps',
        plural: 'deployments',
        object: {
          metadata: { name: 'd', ...born },
          spec: {
            replicas: 3,
            selector: { matchLabels: { a: 'b' } },
            template: { spec: { containers: [{ name: 'c', image: 'i' }] } },
          },
          status: { readyReplicas: 1, updatedReplicas: 2 },
        },
        want: { Ready: '1/3', 'Up-to-date': 2, Available: 0, Containers: 'c', Images: 'i', Selector: 'a=b' },
      },
      {
        name: 'service',
        group: '',
        plural: 'services',
        object: {
          metadata: { name: 's' },
          spec: {
            type: 'LoadBalancer',
            ports: [
              { port: 80, nodePort: 30000, protocol: 'TCP' },
              { port: 53, protocol: 'UDP' },
            ],
          },
        },
        want: {
          Type: 'LoadBalancer',
          'External-IP': '<pending>',
          'Port(s)': '80:30000/TCP,53/UDP',
          Age: '<unknown>',
        },
      },
      {
        name: 'node',
        group: '',
        plural: 'nodes',
        object: {
          metadata: { name: 'n', labels: { 'node-role.kubernetes.io/control-plane': '' } },
          spec: { unschedulable: true },
          status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1' } },
        },
        want: { Status: 'Ready,SchedulingDisabled', Roles: 'control-plane', Version: 'v1' },
      },
      {
        name: 'certificate request',
        group: 'certificates.k8s.io',
        plural: 'certificatesigningrequests',
        object: {
          metadata: { name: 'c' },
          spec: { signerName: 'x/y', username: 'u' },
          status: { conditions: [{ type: 'Approved' }], certificate: 'abc' },
        },
        want: { Condition: 'Approved,Issued', Requestor: 'u', RequestedDuration: '<none>' },
      },
      {
        name: 'empty object',
        group: '',
        plural: 'pods',
        object: { metadata: {} },
        want: { Name: '', Ready: '0/0', Status: 'Unknown' },
      },
    ],
  )('$name', ({ group, plural, object, want }) => {
    expect(row(group, 'v1', plural, object)).toMatchObject(want);
  });
});

describe('tables of custom resources', () => {
  it('shows declared columns of ManagedClusters', () => {
    const object = {
      metadata: { name: 'c1', ...born },
      spec: {
        hubAcceptsClient: true,
        managedClusterClientConfigs: [{ url: 'https://a' }, { url: 'https://b' }],
      },
      status: { conditions: [{ type: 'ManagedClusterJoined', status: 'True' }] },
    };
    expect(row('cluster.open-cluster-management.io', 'v1', 'managedclusters', object)).toEqual({
      Name: 'c1',
      'Hub Accepted': true,
      'Managed Cluster URLs': 'https://a',
      Joined: 'True',
      Available: null,
      Age: '10m',
    });
  });

  it('shows name and age when nothing is declared, and survives paths that lead nowhere', () => {
    const crd = (columns: JsonObject[]): JsonObject => ({
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Thing', plural: 'things' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
            additionalPrinterColumns: columns,
          },
        ],
      },
    });
    scheme.register(definitionFromCrd(crd([])));
    expect(row('example.com', 'v1', 'things', { metadata: { name: 'x', ...born } })).toEqual({
      Name: 'x',
      Age: '10m',
    });
    const paths = ['.a[', '.spec.list[9]', '.spec.list[?(@.x=="y")].z', '..'];
    scheme.register(
      definitionFromCrd(crd(paths.map((jsonPath) => ({ name: jsonPath, type: 'string', jsonPath })))),
    );
    const cells = row('example.com', 'v1', 'things', { metadata: { name: 'x' }, spec: { list: [1] } });
    expect(cells).toMatchObject({ Name: 'x', '.a[': null, '.spec.list[9]': null });
  });

  it.each([
    ['None', null],
    ['Metadata', { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'x' } }],
    ['Object', { metadata: { name: 'x' }, data: { a: 'b' } }],
  ] as const)('carries the object as asked: %s', (includeObject, want) => {
    const ref = scheme.resource('', 'v1', 'configmaps') as ResourceRef;
    const table = renderTable(ref, [{ metadata: { name: 'x' }, data: { a: 'b' } }], {
      ...options,
      includeObject,
      withColumns: false,
    }) as any;
    expect(table.rows[0].object).toEqual(want);
    expect(table.columnDefinitions).toBeNull();
    expect(table.metadata).toEqual({ resourceVersion: '7' });
  });
});
