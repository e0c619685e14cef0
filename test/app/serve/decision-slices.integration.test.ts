import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apiVersionOf } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { DECISION_SLICE } from '../../../src/core/publish/pages/decision-slice.ts';
import { baseFiles, cluster, outside, placement, retired, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const SIG = 'multicluster.x-k8s.io';
const BUDGET = { percent: 100, atLeast: 0 };

interface Slice extends KubeObject {
  readonly decisions: readonly {
    readonly clusterProfileRef: { readonly name: string };
    readonly reason?: string;
  }[];
}

describe('decisions for tools that know clusters by their ClusterProfiles', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
  });
  afterEach(() => fleet.close());

  const serve = (over: object = {}) => fleet.serve({ multiclusterDecisions: true, budget: BUDGET, ...over });
  const slices = async (): Promise<readonly Slice[]> =>
    (await fleet.hub.api.list(DECISION_SLICE, { namespace: 'team-a' })).items as Slice[];
  const clustersOf = ({ decisions }: Slice) =>
    decisions.map(({ clusterProfileRef }) => clusterProfileRef.name);
  const listed = async () => (await slices()).flatMap(clustersOf).sort();
  const web = (spec: object) => ({ 'web.yaml': yaml(placement('web', spec)) });

  it('name the profiles of the clusters of each group, and say why with reasons', async () => {
    fleet.git.commit({
      ...baseFiles,
      ...web({
        decisionStrategy: {
          groupStrategy: {
            decisionGroups: [
              {
                groupName: 'canary',
                groupClusterSelector: { labelSelector: { matchLabels: { stage: 'canary' } } },
              },
            ],
          },
        },
      }),
      'clusters.yaml': yaml(cluster('c1', { labels: { stage: 'canary' } }), cluster('c2')),
    });
    await serve({ decisionReasons: true });
    await expect.poll(listed).toEqual(['c1', 'c2']);
    const labels = (group: string, index: string) => ({
      'cluster.open-cluster-management.io/placement': 'web',
      'cluster.open-cluster-management.io/decision-group-name': group,
      'cluster.open-cluster-management.io/decision-group-index': index,
      [`${SIG}/decision-key`]: 'web',
      [`${SIG}/decision-index`]: index,
    });
    const decision = (name: string) => ({
      clusterProfileRef: { name },
      reason: 'every matching cluster is selected',
    });
    expect(await slices()).toMatchObject([
      {
        apiVersion: `${SIG}/v1alpha1`,
        metadata: { name: 'web-decision-1', labels: labels('canary', '0') },
        decisions: [decision('c1')],
        schedulerName: 'berth',
      },
      { metadata: { name: 'web-decision-2', labels: labels('', '1') }, decisions: [decision('c2')] },
    ]);
  });

  it('list each cluster that stays at every moment of a change of many', async () => {
    const fleetOf = (count: number, leaving: readonly number[]) =>
      yaml(
        ...Array.from({ length: count }, (_, at) =>
          cluster(`n${String(at).padStart(3, '0')}`, leaving.includes(at) ? outside : {}),
        ),
      );
    fleet.git.commit({ ...baseFiles, ...web({}), 'clusters.yaml': fleetOf(230, []) });
    await serve();
    await expect.poll(async () => (await listed()).length).toBe(230);
    expect((await slices()).map((slice) => clustersOf(slice).length)).toEqual([100, 100, 30]);
    const leaving = Array.from({ length: 130 }, (_, at) => at);
    const before = new Map(
      (await slices()).map((slice) => [slice.metadata.name, new Set(clustersOf(slice))]),
    );
    const staying = (await listed()).filter((name) => Number(name.slice(1)) >= 130);
    const smallest: number[] = [];
    const { resourceVersion } = await fleet.hub.api.list(DECISION_SLICE);
    const stop = new AbortController();
    const watching = (async () => {
      const options = { resourceVersion, signal: stop.signal };
      for await (const event of fleet.hub.api.watch(DECISION_SLICE, options)) {
        if (event.type === 'bookmark') continue;
        const { object } = event;
        if (event.type === 'deleted') before.delete(object.metadata.name);
        else before.set(object.metadata.name, new Set(clustersOf(object as Slice)));
        const shown = new Set([...before.values()].flatMap((names) => [...names]));
        smallest.push(staying.filter((name) => shown.has(name)).length);
      }
    })().catch(() => undefined);
    fleet.git.commit({ 'clusters.yaml': fleetOf(260, leaving) });
    await expect.poll(listed).toEqual([...staying, ...Array.from({ length: 30 }, (_, at) => `n${230 + at}`)]);
    await expect.poll(() => smallest.length).toBeGreaterThan(0);
    stop.abort();
    await watching;
    expect(new Set(smallest)).toEqual(new Set([staying.length]));
    const indexes = (await slices()).map(({ metadata }) => metadata.labels?.[`${SIG}/decision-index`]);
    expect(indexes.sort()).toEqual(indexes.map((_, at) => String(at)));
  });

  it('are repaired when somebody edits them, and end with their placement', async () => {
    fleet.git.commit({ ...baseFiles, ...web({ numberOfClusters: 2 }) });
    await serve();
    await expect.poll(async () => (await listed()).length).toBe(2);
    const chosen = await listed();
    const key = { namespace: 'team-a', name: 'web-decision-1' };
    await fleet.hub.api.mergePatch(DECISION_SLICE, key, { decisions: [] });
    await expect.poll(listed).toEqual(chosen);
    const elsewhere = chosen.map((name) => ({ clusterProfileRef: { name, namespace: 'elsewhere' } }));
    await fleet.hub.api.mergePatch(DECISION_SLICE, key, { decisions: elsewhere });
    await expect
      .poll(async () => (await slices()).flatMap(({ decisions }) => decisions))
      .toEqual(chosen.map((name) => ({ clusterProfileRef: { name } })));
    fleet.git.commit({ 'web.yaml': undefined });
    await expect.poll(slices).toEqual([]);
  });

  it('of other schedulers stay as they are', async () => {
    fleet.git.commit({ ...baseFiles, ...web({ numberOfClusters: 1 }) });
    const other = {
      apiVersion: apiVersionOf(DECISION_SLICE),
      kind: DECISION_SLICE.kind,
      metadata: {
        namespace: 'team-a',
        name: 'other',
        labels: { 'cluster.open-cluster-management.io/placement': 'gone' },
      },
      decisions: [{ clusterProfileRef: { name: 'c9' } }],
      schedulerName: 'other',
    };
    await serve();
    await fleet.published('web');
    await fleet.hub.api.create(DECISION_SLICE, other);
    await expect.poll(async () => (await slices()).length).toBe(2);
    await fleet.advance(10_000);
    expect(await slices()).toContainEqual(
      expect.objectContaining({ schedulerName: 'other', decisions: other.decisions }),
    );
  });

  it('of placements that went while no controller ran are removed, and a restart writes nothing', async () => {
    const two = { 'db.yaml': yaml(placement('db', { numberOfClusters: 1 })) };
    fleet.git.commit({ ...baseFiles, ...two, ...web({ numberOfClusters: 1 }) });
    await serve();
    await expect.poll(async () => (await slices()).length).toBe(2);
    await fleet.stop();
    const kept = (await slices()).find(({ metadata }) => metadata.name.startsWith('web'));
    fleet.git.commit({ 'db.yaml': undefined, 'clusters.yaml': retired(0) });
    await serve();
    await expect.poll(async () => (await slices()).length).toBe(1);
    await fleet.advance(5_000);
    expect(await slices()).toEqual([kept]);
  });
});
