import { afterEach, beforeEach, expect, it } from 'vitest';
import { EVENT, NAMESPACE, PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { GITOPS_CLUSTER_V1BETA1 } from '../../../src/core/argocd/argocd-kinds.ts';
import { ServedFleet } from './served-fleet.ts';

let fleet: ServedFleet;
beforeEach(async () => {
  fleet = await ServedFleet.create();
  await fleet.hub.api.create(NAMESPACE, {
    ...{ apiVersion: 'v1', kind: 'Namespace' },
    metadata: { name: 'team-a' },
  });
  await fleet.hub.api.create(PLACEMENT, {
    ...{ apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'Placement' },
    metadata: { name: 'lost', namespace: 'team-a' },
    spec: {},
  });
  await fleet.hub.api.create(GITOPS_CLUSTER_V1BETA1, {
    ...{ apiVersion: 'apps.open-cluster-management.io/v1beta1', kind: 'GitOpsCluster' },
    metadata: { name: 'argo', namespace: 'team-a' },
    spec: { argoServer: { argoNamespace: 'argocd' }, placementRef: { kind: 'Placement', name: 'lost' } },
  });
});
afterEach(() => fleet.close());

interface Told {
  readonly regarding: { readonly kind: string; readonly name: string };
  readonly reason: string;
  readonly note: string;
  readonly series?: { readonly count: number };
}

const told = async (): Promise<readonly string[]> => {
  const { items } = await fleet.hub.api.list(EVENT, { namespace: 'team-a' });
  return (items as unknown as readonly Told[])
    .filter(({ reason }) => ['Undecided', 'ControllerNotRunning'].includes(reason))
    .map(({ regarding, reason, series }) =>
      [regarding.kind, regarding.name, reason, ...(series === undefined ? [] : [series.count])].join(' '),
    )
    .sort();
};
const addons = () => ({ duties: ['install' as const], clock: fleet.clock });
const LOOK_MS = 60_000;

it('says on a placement that nobody decides, and on a GitOpsCluster, what has to run', async () => {
  const running = await fleet.serve({
    sources: [],
    embedded: false,
    http: fleet.http(),
    addons: addons(),
  });
  await running.whenReady();
  await fleet.advance(LOOK_MS);
  expect(await told()).toEqual([]);
  await fleet.advance(LOOK_MS);
  await fleet.advance(LOOK_MS);
  const both = ['GitOpsCluster argo ControllerNotRunning', 'Placement lost Undecided'];
  await expect.poll(told).toEqual(both);
  const { stdout } = await fleet.status();
  expect(stdout).toContain('Placement team-a/lost: Nobody decides this placement');
  expect(stdout).toContain('GitOpsCluster team-a/argo: Nothing registers the clusters');
  // Said once, and renewed while it lasts.
  for (let look = 0; look < 32; look += 1) await fleet.advance(LOOK_MS);
  await expect.poll(told).toEqual(both.map((line) => `${line} 2`));
  const labels = { 'cluster.open-cluster-management.io/placement': 'lost' };
  await fleet.hub.api.create(PLACEMENT_DECISION, {
    ...{ apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'PlacementDecision' },
    metadata: { name: 'lost-decision-1', namespace: 'team-a', labels },
  });
  await fleet.advance(LOOK_MS);
  await expect.poll(async () => (await fleet.status()).stdout).not.toContain('Nobody decides');
});

it('says nothing where Berth decides the placement and registers the clusters', async () => {
  const argocd = {
    ...{ namespace: 'argocd', refresh: false, waves: false, clusterSecrets: true, pull: false },
    ...{ pluginConfigMaps: [], refreshesPerSecond: 1, clusterLabels: [] },
  };
  const running = await fleet.serve({ sources: [], embedded: true, addons: addons(), argocd });
  await running.whenReady();
  for (let look = 0; look < 4; look += 1) await fleet.advance(LOOK_MS);
  expect(await told()).toEqual([]);
});
