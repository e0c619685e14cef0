import { beforeEach, describe, expect, it } from 'vitest';
import { parsePluginRequest, type PluginRequest } from '../../../plugin/response/plugin-request.ts';
import { renderParameters } from '../../../plugin/response/render-parameters.ts';
import type { PluginPlacement } from '../../../plugin/response/plugin-source.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { MemoryPluginSource } from '../../fakes/memory-plugin-source.ts';

const west: ManagedCluster = {
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: {
    name: 'West_1',
    labels: {
      region: 'eu',
      'cluster.open-cluster-management.io/clusterset': 'prod',
      'applyset.kubernetes.io/part-of': 'x',
    },
  },
  spec: {
    managedClusterClientConfigs: [{ url: 'https://west:6443' }],
    taints: [
      { key: 'gpu', value: 'true', effect: 'NoSelect' },
      { key: 'gpu', effect: 'PreferNoSelect' },
    ],
  },
  status: {
    version: { kubernetes: 'v1.33.1' },
    allocatable: { cpu: '4', memory: '1Gi' },
    capacity: { cpu: 8 },
    clusterClaims: [{ name: 'platform', value: 'aws' }],
  },
};
const PLACEMENT: PluginPlacement = {
  groups: [
    { name: '', index: 0, decisions: [{ clusterName: 'West_1', reason: '', score: 1_000_000 }] },
    { name: 'late', index: 1, decisions: [{ clusterName: 'East', reason: 'x' }] },
  ],
  decisionId: 'd1',
  commit: 'c1',
  emptyAllowed: false,
};
const requestOf = (parameters: object): PluginRequest => {
  const parsed = parsePluginRequest(
    JSON.stringify({ input: { parameters: { placement: 'team-a/web', ...parameters } } }),
  );
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.request;
};

describe('the parameters of a cluster', () => {
  let source: MemoryPluginSource;
  beforeEach(() => {
    source = new MemoryPluginSource();
    source.clusters.set('West_1', west);
    source.addOnScores.set('West_1', [{ resource: 'default', name: 'cpu', value: -3 }]);
  });
  const itemsOf = (parameters: object, placement = PLACEMENT) =>
    renderParameters(requestOf(parameters), placement, source).map(
      (item) => JSON.parse(item) as Record<string, unknown>,
    );
  const render = (parameters: object = {}) => itemsOf(parameters);

  it('are strings and maps of strings, with the same keys for each, by name', () => {
    expect(render({ labels: ['always'], scores: ['default/free', 'other/x'], taints: 'a' })).toEqual([
      {
        name: 'East',
        clusterName: 'East',
        nameNormalized: 'east',
        server: '',
        version: '',
        clusterSet: '',
        placement: 'team-a/web',
        placementName: 'web',
        namespace: 'team-a',
        decisionId: 'd1',
        commit: 'c1',
        group: 'late',
        groupIndex: '1',
        wave: 'w1',
        rank: '2',
        score: '',
        reason: 'x',
        labels: { always: '', region: '', 'cluster.open-cluster-management.io/clusterset': '' },
        claims: { platform: '' },
        taints: { a: '', gpu: '' },
        allocatable: { cpu: '', memory: '' },
        capacity: { cpu: '' },
        scores: { default: { cpu: '', free: '' }, other: { x: '' } },
      },
      {
        name: 'West_1',
        clusterName: 'West_1',
        nameNormalized: 'west-1',
        server: 'https://west:6443',
        version: 'v1.33.1',
        clusterSet: 'prod',
        placement: 'team-a/web',
        placementName: 'web',
        namespace: 'team-a',
        decisionId: 'd1',
        commit: 'c1',
        group: '',
        groupIndex: '0',
        wave: 'w0',
        rank: '1',
        score: '1000000',
        reason: '',
        labels: { always: '', region: 'eu', 'cluster.open-cluster-management.io/clusterset': 'prod' },
        claims: { platform: 'aws' },
        taints: { a: '', gpu: 'true:NoSelect,:PreferNoSelect' },
        allocatable: { cpu: '4', memory: '1Gi' },
        capacity: { cpu: '8' },
        scores: { default: { cpu: '-3', free: '' }, other: { x: '' } },
      },
    ]);
  });

  it.each([{ flat: true }, { flat: 'true' }])('have dots for maps with %j', (parameters) => {
    const items = render(parameters);
    expect(items[1]).toMatchObject({
      name: 'West_1',
      'labels.region': 'eu',
      'taints.gpu': 'true:NoSelect,:PreferNoSelect',
      'allocatable.cpu': '4',
      'scores.default.cpu': '-3',
    });
    for (const item of items)
      expect(Object.values(item).map((value) => typeof value)).not.toContain('object');
    expect(Object.keys(items[0] ?? {})).toEqual(Object.keys(items[1] ?? {}));
  });

  it('are below one key where the request names it', () => {
    expect(render({ as: 'web' })[1]).toEqual({ web: render()[1] });
    expect(render({ as: 'web', flat: true })[1]).toMatchObject({
      'web.name': 'West_1',
      'web.labels.region': 'eu',
    });
  });

  it.each([
    ['Prod_EU', 'prod-eu'],
    ['-a.', 'a'],
    ['ünï', 'n'],
    ['x'.repeat(300), 'x'.repeat(253)],
  ])('normalize the name %s as Argo CD does', (name, normalized) => {
    const groups = [{ name: '', index: 0, decisions: [{ clusterName: name, reason: '' }] }];
    const [item] = itemsOf({}, { ...PLACEMENT, groups });
    expect(item?.['nameNormalized']).toBe(normalized);
  });

  it.each([{}, { flat: true }, { as: 'x' }, { flat: true, as: 'x' }, { labels: ['2', '1'] }])(
    'are the same text when they are asked for again, changed and asked for again: %j',
    (parameters) => {
      const request = requestOf(parameters);
      const before = renderParameters(request, PLACEMENT, source);
      // Another question in between has other keys.
      renderParameters(requestOf({ labels: ['other'], flat: true }), PLACEMENT, source);
      expect(renderParameters(request, PLACEMENT, source)).toEqual(before);
      source.clusters.set('West_1', { ...west, metadata: { name: 'West_1', labels: { 'a"b': '\\' } } });
      const after = renderParameters(request, PLACEMENT, source);
      expect(after).not.toEqual(before);
      expect(after.map((item) => JSON.stringify(JSON.parse(item)))).toEqual(after);
    },
  );
});
