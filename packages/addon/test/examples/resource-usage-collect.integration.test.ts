import { hubClient } from '@berth/addon/agent';
import { withHub } from '@berth/addon/testing';
import { ADDON_PLACEMENT_SCORE, MANAGED_CLUSTER_ADDON, ROLE, SECRET } from '@berth/kube/model/kinds';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { expect, it } from 'vitest';
import {
  IMAGE,
  resourceUsageCollect,
  runAgent,
} from '../../../../examples/addon-resource-usage-collect/add-on.ts';
import {
  fillCluster,
  main,
  runManager,
  scoreTable,
} from '../../../../examples/addon-resource-usage-collect/main.ts';

const { name } = resourceUsageCollect;
const SETUP = { patienceMs: PATIENCE_MS, programs: { [IMAGE]: runAgent } };

it('one command gives the scores of all clusters', async () => {
  const printed: string[] = [];
  await main([], (text) => printed.push(text));
  expect(printed).toEqual([
    [
      'cluster1\tcpuAvailable 12\tmemAvailable 4',
      'cluster2\tcpuAvailable 12\tmemAvailable 4',
      'cluster3\tcpuAvailable 60\tmemAvailable 14',
    ].join('\n'),
  ]);
});

it('a cluster writes its own scores and no others, and nothing stays when the add-on goes', async () => {
  await withHub(
    async (world) => {
      const { hub, clusters, run, signal, waitFor } = world;
      const cluster = clusters.get('east')!;
      for (const name of clusters.keys()) await fillCluster(world, name, ['24', '1500m', '49265496Ki']);
      run((over) => runManager(hub, over));
      await waitFor(async () => (await scoreTable(hub)).split('memAvailable').length > 2);
      expect(
        await hub.get(ADDON_PLACEMENT_SCORE, { namespace: 'east', name: 'resource-usage-score' }),
      ).toMatchObject({
        status: {
          scores: [
            { name: 'cpuAvailable', value: 22 },
            { name: 'memAvailable', value: 4 },
          ],
          validUntil: expect.any(String),
        },
      });
      const { namespace } = { namespace: 'open-cluster-management-agent-addon' };
      const secret = { namespace, name: `${name}-hub-kubeconfig` };
      const agent = await hubClient({ from: { cluster, ...secret }, signal });
      expect(agent.clusterName).toBe('east');
      const score = (cluster: string) =>
        agent.hub.get(ADDON_PLACEMENT_SCORE, { namespace: cluster, name: 'resource-usage-score' });
      expect(await score('east')).toBeDefined();
      await expect(score('west')).rejects.toMatchObject({ code: 'kube.forbidden' });

      await hub.delete(MANAGED_CLUSTER_ADDON, { namespace: 'west', name });
      const west = clusters.get('west')!;
      await waitFor(async () => (await west.get(SECRET, secret)) === undefined);
      await waitFor(async () => (await hub.list(ROLE, { namespace: 'west' })).items.length === 0);
    },
    { ...SETUP, clusters: ['east', 'west'] },
  );
});
