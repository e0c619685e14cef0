import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import {
  ADDON_PLACEMENT_SCORE,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import { baseFiles, namespace, placement, replicaSet, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const DECIDED_FROM = [
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  PLACEMENT_DECISION,
  ADDON_PLACEMENT_SCORE,
  MANIFEST_WORK,
];
const once = (kinds: readonly KindInfo[]) => Object.fromEntries(kinds.map(({ plural }) => [plural, 1]));

describe('a whole berth serve process', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({
      ...baseFiles,
      'namespaces.yaml': yaml(...['c1', 'c2'].map(namespace)),
      'web.yaml': yaml(placement('web', { numberOfClusters: 2 }), replicaSet),
    });
  });
  afterEach(() => fleet.close());

  /** Watches that the hub has answered since it was started, by resource. */
  async function watches(): Promise<Record<string, number>> {
    const config = loadKubeConfig({ file: fleet.hub.kubeconfig });
    const { tls, authorization } = await config.credentials({ clock: systemClock });
    const server = config.getCurrentCluster()?.server ?? '';
    const options = { ca: tls.ca, headers: { authorization } };
    const metrics = await new Promise<string>((resolve, reject) => {
      request(`${server}/metrics`, options, (answer) => void text(answer).then(resolve, reject))
        .on('error', reject)
        .end();
    });
    const lines = metrics.matchAll(
      /^apiserver_request_total\{verb="watch",group="[^"]*",resource="([^"]+)",.*\} (\d+)$/gm,
    );
    const counts: Record<string, number> = {};
    for (const [, resource = '', count] of lines) counts[resource] = (counts[resource] ?? 0) + Number(count);
    return counts;
  }

  const works = async () => (await fleet.hub.api.list(MANIFEST_WORK)).items.length;

  it('opens one watch per kind at the hub, for decisions and works together', async () => {
    await fleet.serve();
    await fleet.published('web');
    await expect.poll(works).toBe(2);
    expect(await watches()).toEqual(once([...DECIDED_FROM, MANIFEST_WORK_REPLICA_SET]));
  });

  it('without the work controllers does not watch what only they read', async () => {
    const controller = await fleet.serve({ works: false });
    await controller.whenReady();
    await fleet.published('web');
    expect(await watches()).toEqual(once(DECIDED_FROM));
  });
});
