import { expect, it } from 'vitest';
import { ObjectStore } from '@berth/kube/cache/object-store';
import type { HubInventory } from '../../../src/controllers/inventory/hub-inventory.ts';
import { PublishedPlacements } from '../../../src/core/publish/pages/published-placements.ts';
import { UpstreamDecisions } from '../../../src/controllers/publication/upstream-decisions.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { OTHER_SCHEDULER_QUIET_MS } from '../../../src/core/publish/machine/second-writer.ts';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const page = (name: string, placement: string, version: string, ...clusters: string[]): KubeObject => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'PlacementDecision',
  metadata: {
    name,
    namespace: 'team-a',
    resourceVersion: version,
    labels: { 'cluster.open-cluster-management.io/placement': placement },
  },
  status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
});

it('looks at both placements when a page goes from one to the other', async () => {
  const clock = new FakeClock();
  const decisions = new ObjectStore();
  const publishedPlacements = new PublishedPlacements();
  const inventory = {
    decisions: { store: decisions },
    whenSynced: () => Promise.resolve(),
  } as unknown as HubInventory;
  const supervisor = new Supervisor({ clock, random: () => 0.5, log: new SilentLogger() });
  new UpstreamDecisions({ inventory, publishedPlacements, clock }).start(supervisor);
  const published = (name: string) =>
    publishedPlacements
      .get(`team-a/${name}`)
      ?.groups.flatMap((group) => group.decisions.map((d) => d.clusterName));
  decisions.put(page('web-decision-1', 'web', '1', 'c1'));
  decisions.put(page('web-decision-2', 'web', '2', 'c2'));
  await clock.advance(OTHER_SCHEDULER_QUIET_MS);
  expect(published('web')).toEqual(['c1', 'c2']);
  decisions.put(page('web-decision-2', 'api', '3', 'c2'));
  await clock.advance(OTHER_SCHEDULER_QUIET_MS);
  expect([published('web'), published('api')]).toEqual([['c1'], ['c2']]);
  void supervisor.close();
  await clock.advance(60_000);
});
