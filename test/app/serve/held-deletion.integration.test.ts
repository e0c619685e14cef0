import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { hubAdmission } from '../../../src/controllers/admission/hub-admission.ts';
import {
  apiVersionOf,
  MANAGED_CLUSTER,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  NAMESPACE,
} from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { ACCEPT_NOBODY } from '../../../src/core/registration/acceptance/auto-acceptance.ts';
import { template } from '../../core/work/replica-set-harness.ts';
import { binding, cluster, clusterSet, namespace, placement, replicaSet, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const CLUSTER = { namespace: '', name: 'edge-1' };
const FILES = {
  'set.yaml': yaml(namespace('team-a'), clusterSet, binding()),
  'web.yaml': yaml(placement('web'), replicaSet),
};

let fleet: ServedFleet;
beforeEach(async () => {
  fleet = await ServedFleet.create({ admission: hubAdmission() });
});
afterEach(() => fleet.close());

/** A cluster that registered itself. It is not in Git. */
async function join(finalizers: readonly string[] = []): Promise<void> {
  const { metadata, ...rest } = cluster('edge-1');
  await fleet.hub.api.create(MANAGED_CLUSTER, { ...rest, metadata: { ...metadata, finalizers } });
}

const works = async (): Promise<readonly KubeObject[]> =>
  (await fleet.hub.api.list(MANIFEST_WORK, { namespace: 'edge-1' })).items;
const uids = async (): Promise<readonly unknown[]> => (await works()).map(({ metadata }) => metadata.uid);
const isThere = async (): Promise<boolean> =>
  (await fleet.hub.api.get(MANAGED_CLUSTER, CLUSTER)) !== undefined;
const deleteCluster = (): Promise<boolean> => fleet.hub.api.delete(MANAGED_CLUSTER, CLUSTER);
const deleteWorks = async (): Promise<void> => {
  for (const { metadata } of await works())
    await fleet.hub.api.delete(MANIFEST_WORK, { namespace: 'edge-1', name: metadata.name });
};
const written = (): readonly string[] =>
  fleet.events.flatMap((event) => (event.kind === 'work-written' ? [event.action] : []));

it('keeps the work of a cluster that is deleted while the decision is held, and lets both go after the release', async () => {
  fleet.git.commit(FILES);
  await join();
  const duties = ['acceptance', 'cleanup'] as const;
  await fleet.serve({ registration: { duties, autoAcceptance: ACCEPT_NOBODY, clock: systemClock } });
  await expect.poll(works).toHaveLength(1);
  const before = await uids();
  await deleteCluster();
  const { message = '' } = await fleet.held('web', 'True', 'WouldEmpty');
  const waits = async () => {
    const { conditions = [] } = ((await fleet.hub.api.get(MANAGED_CLUSTER, CLUSTER))?.['status'] ?? {}) as {
      conditions?: Condition[];
    };
    return conditions.find(({ type }) => type === 'Deleting')?.message;
  };
  await expect.poll(waits).toContain(message);
  await fleet.advance(600_000);
  expect([await uids(), written()]).toEqual([before, ['created']]);
  const [, code = ''] = /berth\.dev\/release: "(\w+)"/.exec(message) ?? [];
  const annotations = { 'berth.dev/release': code };
  fleet.git.commit({ ...FILES, 'web.yaml': yaml(placement('web', {}, annotations), replicaSet) });
  await expect.poll(isThere).toBe(false);
  await fleet.advance(600_000);
  expect([await works(), written().filter((action) => action === 'created')]).toEqual([[], ['created']]);
});

it('never makes a work again that the clean-up of another controller deleted, and says why', async () => {
  fleet.git.commit(FILES);
  await fleet.hub.api.create(NAMESPACE, namespace('edge-1'));
  await join(['example.org/clean-up']);
  await fleet.serve();
  await expect.poll(works).toHaveLength(1);
  await deleteCluster();
  await fleet.held('web', 'True', 'WouldEmpty');
  await deleteWorks();
  await fleet.advance(600_000);
  expect([await works(), written()]).toEqual([[], ['created']]);
  const { status } = (await fleet.hub.api.get(MANIFEST_WORK_REPLICA_SET, {
    namespace: 'team-a',
    name: 'web',
  })) as KubeObject & { status?: { conditions?: Condition[] } };
  expect(status?.conditions?.find(({ type }) => type === 'PlacementRolledOut')?.message).toContain(
    'no work is made for clusters that are being deleted or do not exist: edge-1',
  );
  await fleet.hub.api.mergePatch(MANAGED_CLUSTER, CLUSTER, { metadata: { finalizers: [] } });
  await expect.poll(isThere).toBe(false);
  await fleet.advance(600_000);
  expect(await works()).toEqual([]);
});

it('does not apply a work from Git again that clean-up deleted', async () => {
  const metadata = { name: 'by-hand', namespace: 'edge-1' };
  const work = {
    apiVersion: apiVersionOf(MANIFEST_WORK),
    kind: 'ManifestWork',
    metadata,
    spec: template('1'),
  };
  fleet.git.commit({ 'set.yaml': yaml(namespace('team-a'), clusterSet), 'work.yaml': yaml(work) });
  await fleet.hub.api.create(NAMESPACE, namespace('edge-1'));
  await join(['example.org/clean-up']);
  await fleet.serve();
  await expect.poll(works).toHaveLength(1);
  await deleteCluster();
  await deleteWorks();
  // The full comparison.
  await fleet.advance(600_000);
  const { message } = await fleet.event('sync-problem');
  expect(message).toContain('its cluster edge-1 is being deleted, so nothing is made for it');
  await fleet.advance(600_000);
  expect(await works()).toEqual([]);
});
