import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { hubAdmission } from '../../../src/controllers/admission/hub-admission.ts';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { ACCEPT_NOBODY } from '../../../src/core/registration/acceptance/auto-acceptance.ts';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import { DUTIES } from '../../../src/core/registration/duties.ts';
import { setCondition } from '@berth/kube/model/condition-list';
import { baseFiles, cluster, placement, yaml } from './fleet-fixture.ts';
import { TransientError } from '@berth/runtime/errors';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { withMergePatch } from '../../fakes/with-merge-patch.ts';
import { ServedFleet } from './served-fleet.ts';

const MAINTENANCE = { key: 'example.org/maintenance', effect: 'NoSelect' };
const KEY = { namespace: '', name: 'edge-1' };

let fleet: ServedFleet;
beforeEach(async () => {
  fleet = await ServedFleet.create({ admission: hubAdmission() });
});
afterEach(() => fleet.close());

const edge = async (): Promise<ManagedCluster | undefined> =>
  (await fleet.hub.api.get(MANAGED_CLUSTER, KEY)) as ManagedCluster | undefined;
const taints = async (): Promise<readonly string[]> =>
  ((await edge())?.spec?.taints ?? []).map(({ key }) => key).sort();
const commit = (over: Parameters<typeof cluster>[1]): string =>
  fleet.git.commit({ ...baseFiles, 'edge.yaml': yaml(cluster('edge-1', over)) });

it('gives a cluster the default set without webhooks, and the set that a commit names later', async () => {
  await fleet.close();
  fleet = await ServedFleet.create({ admission: hubAdmission({ ocm: false }) });
  const { metadata, ...rest } = cluster('edge-1');
  await fleet.hub.api.create(MANAGED_CLUSTER, { ...rest, metadata: { ...metadata, labels: {} } });
  fleet.git.commit(baseFiles);
  const registration = { duties: ['sets'] as const, autoAcceptance: ACCEPT_NOBODY, clock: systemClock };
  await fleet.serve({ registration });
  const set = async () => (await edge())?.metadata.labels?.['cluster.open-cluster-management.io/clusterset'];
  await expect.poll(set).toBe('default');
  commit({ labels: { zone: 'a' } });
  await expect.poll(set).toBe('prod');
  await fleet.advance(600_000);
  expect(await set()).toBe('prod');
});

it('takes a cluster, its set, labels and taints from Git, and the rest from its agent', async () => {
  commit({ taints: [MAINTENANCE] });
  const registration = { duties: DUTIES, autoAcceptance: ACCEPT_NOBODY, clock: systemClock };
  await fleet.serve({ registration });
  const unreachable = 'cluster.open-cluster-management.io/unreachable';
  await expect.poll(taints).toEqual([unreachable, MAINTENANCE.key]);
  await expect
    .poll(async () => (await edge())?.status?.conditions?.[0])
    .toMatchObject(CLUSTER_CONDITIONS.accepted);

  commit({ taints: [], labels: { zone: 'a' } });
  await expect.poll(async () => (await edge())?.metadata.labels?.['zone']).toBe('a');
  await expect.poll(taints).toEqual([unreachable]);

  // The agent reports; Git, which names no taints any more, and the hub do not write in turns.
  const before = (await edge())?.status?.conditions ?? [];
  const conditions = setCondition(before, CLUSTER_CONDITIONS.available, '2026-01-01T00:00:00Z');
  await fleet.hub.api.mergePatch(MANAGED_CLUSTER, KEY, { status: { conditions } }, { subresource: 'status' });
  await expect.poll(taints).toEqual([]);
  const version = (await edge())?.metadata.resourceVersion;
  const last = commit({ taints: [], labels: { zone: 'a' } });
  await fleet.advance(600_000);
  expect(last).not.toBe('');
  const now = await edge();
  expect(now?.metadata.resourceVersion).toBe(version);
  expect(now?.status?.conditions?.map(({ type }) => type)).toContain(CLUSTER_CONDITIONS.available.type);
});

/** The hub while no taint of a cluster can be written: the moment between a registration and its taint, made long. */
function withoutTaints(api: KubeApi): KubeApi {
  const mergePatch: KubeApi['mergePatch'] = (kind, key, patch, options) =>
    kind === MANAGED_CLUSTER && JSON.stringify(patch).includes('"taints"')
      ? Promise.reject(new TransientError('are not written', { code: 'test', subject: 'taints' }))
      : api.mergePatch(kind, key, patch, options);
  return withMergePatch(api, mergePatch);
}

it('selects no cluster that has never reported, before its taint is written', async () => {
  const web = placement('web', { numberOfClusters: 1 });
  fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(web) });
  const registration = { duties: ['taints'] as const, autoAcceptance: ACCEPT_NOBODY, clock: systemClock };
  await fleet.serve({ registration, api: withoutTaints(fleet.hub.api) });
  const name = 'c3';
  await fleet.until(() => fleet.hub.api.get(MANAGED_CLUSTER, { namespace: '', name }));
  const conditions = setCondition([], CLUSTER_CONDITIONS.available, '2026-01-01T00:00:00Z');
  await fleet.hub.api.mergePatch(
    MANAGED_CLUSTER,
    { namespace: '', name },
    { status: { conditions } },
    { subresource: 'status' },
  );
  await expect.poll(() => fleet.decisions('web')).toEqual([name]);
  await fleet.advance(600_000);
  const added = fleet.events.flatMap((event) => (event.kind === 'published' ? event.added : []));
  expect(added).toEqual([name]);
});
