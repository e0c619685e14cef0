import { afterEach, expect, it } from 'vitest';
import {
  EVENT,
  MANAGED_CLUSTER,
  MANIFEST_WORK,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { RESOURCE_FINALIZER } from '@berth/ocm/registration/names';
import { withMergePatch } from '../../fakes/with-merge-patch.ts';
import { RegistrationWorld, type WorldOptions } from './registration-world.ts';

const HOLD_REASONS = [
  'WouldEmpty',
  'RemovalBudgetExceeded',
  'DiffersFromPlan',
  'Misconfigured',
  'InventoryStale',
  'MoveTimedOut',
  'SecondWriter',
];
const PAGE = { namespace: 'team', name: 'web-decision-1' };
const MARK = { 'berth.dev/scheduler': 'berth' };
const CLUSTER = { namespace: '', name: 'c1' };

let world: RegistrationWorld;
afterEach(() => world.close());

/** An accepted cluster with a work, and a placement that selects it. */
async function selectedCluster(options: WorldOptions, annotations = {}): Promise<void> {
  world = await RegistrationWorld.create({ duties: ['acceptance', 'cleanup'], ...options });
  await world.register('c1');
  await world.accept('c1');
  await expect.poll(() => world.get(ROLE_BINDING, `${ROLE}:work`, 'c1')).toBeDefined();
  await world.work('c1', 'web');
  await world.make(NAMESPACE, { metadata: { name: 'team' } });
  await world.make(PLACEMENT, { metadata: { name: 'web', namespace: 'team', annotations }, spec: {} });
  const labels = { 'cluster.open-cluster-management.io/placement': 'web' };
  await world.make(PLACEMENT_DECISION, { metadata: { ...PAGE, labels } });
  await publish('c1');
}

async function publish(...clusters: readonly string[]): Promise<void> {
  const decisions = clusters.map((clusterName) => ({ clusterName, reason: '' }));
  const status = { subresource: 'status' } as const;
  await world.api.mergePatch(PLACEMENT_DECISION, PAGE, { status: { decisions } }, status);
}

async function hold(reason: string): Promise<void> {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const message = 'The only cluster would be removed.';
  const condition = { type: 'berth.dev/Held', status: 'True', reason, message, lastTransitionTime };
  const key = { namespace: 'team', name: 'web' };
  const status = { subresource: 'status' } as const;
  await world.api.mergePatch(PLACEMENT, key, { status: { conditions: [condition] } }, status);
}

const ROLE = 'open-cluster-management:managedcluster:c1';
const bindings = async (): Promise<number> =>
  (await world.api.list(ROLE_BINDING, { namespace: 'c1' })).items.length;
const works = async (): Promise<number> =>
  (await world.api.list(MANIFEST_WORK, { namespace: 'c1' })).items.length;
const reported = async (): Promise<readonly unknown[]> =>
  (await world.api.list(EVENT, { namespace: 'c1' })).items
    .map((event) => event['reason'])
    .filter((reason) => reason === 'RemovalHeld');
const deleteCluster = () => world.api.delete(MANAGED_CLUSTER, CLUSTER);

it.each(HOLD_REASONS)(
  'a deletion waits for the hold %s, says so, and ends when the hold does',
  async (reason) => {
    await selectedCluster({ decides: 'all' });
    await hold(reason);
    await deleteCluster();
    await expect.poll(() => world.conditions('c1')).toContain('Deleting=False/RemovalHeld');
    const said = `placement team/web selects the cluster, and its removal is held (${reason}): The only cluster`;
    await expect.poll(() => world.warnings().join()).toContain(said);
    expect(world.events).toContainEqual(expect.objectContaining({ action: 'deletion-held', cluster: 'c1' }));
    await expect.poll(reported).toEqual(['RemovalHeld']);
    expect([await works(), await bindings()]).toEqual([1, 2]);
    await publish();
    await expect.poll(() => world.get(MANAGED_CLUSTER, 'c1')).toBeUndefined();
    expect([await works(), world.warnings()]).toEqual([0, []]);
  },
);

it('a deletion waits without a word while the decision is under way', async () => {
  await selectedCluster({ decides: 'own' }, MARK);
  await deleteCluster();
  await expect.poll(() => world.conditions('c1')).toContain('Deleting=False/StillSelected');
  expect([await works(), world.warnings(), await reported()]).toEqual([1, [], []]);
  await publish();
  await expect.poll(() => world.get(MANAGED_CLUSTER, 'c1')).toBeUndefined();
});

it('a deletion waits for works of Applications whose removal is held', async () => {
  let held: readonly string[] = ['all Applications of argocd/shop would be removed'];
  await selectedCluster({ decides: 'none', holdsOfPull: () => held });
  await deleteCluster();
  await expect.poll(() => world.conditions('c1')).toContain('Deleting=False/RemovalHeld');
  expect(await works()).toBe(1);
  held = [];
  await expect.poll(() => world.get(MANAGED_CLUSTER, 'c1')).toBeUndefined();
});

it.each([
  { name: 'another scheduler decides the placement', decides: 'own', annotations: {} },
  { name: 'Berth decides nothing', decides: 'none', annotations: MARK },
] as const)('a deletion does not wait where $name', async ({ decides, annotations }) => {
  await selectedCluster({ decides }, annotations);
  await hold('WouldEmpty');
  await deleteCluster();
  await expect.poll(() => world.get(MANAGED_CLUSTER, 'c1')).toBeUndefined();
  expect(await works()).toBe(0);
});

it('a deletion ends when the placement that holds it is deleted', async () => {
  await selectedCluster({ decides: 'all' });
  await hold('WouldEmpty');
  await deleteCluster();
  await expect.poll(() => world.conditions('c1')).toContain('Deleting=False/RemovalHeld');
  await world.api.delete(PLACEMENT, { namespace: 'team', name: 'web' });
  await expect.poll(() => world.get(MANAGED_CLUSTER, 'c1')).toBeUndefined();
});

it('what runs on a cluster whose finalizers were removed by force stays while the removal is held', async () => {
  await selectedCluster({ decides: 'all' });
  await hold('WouldEmpty');
  await deleteCluster();
  await expect.poll(() => world.conditions('c1')).toContain('Deleting=False/RemovalHeld');
  await world.patch(MANAGED_CLUSTER, 'c1', { metadata: { finalizers: [] } });
  await expect.poll(() => world.get(MANAGED_CLUSTER, 'c1')).toBeUndefined();
  await expect.poll(() => world.warnings().join()).toContain('is held (WouldEmpty)');
  expect(await works()).toBe(1);
  await publish();
  await expect.poll(works).toBe(0);
});

it('a cluster that is denied while its deletion is held loses its rights', async () => {
  await selectedCluster({ decides: 'all' });
  await hold('WouldEmpty');
  await deleteCluster();
  await expect.poll(() => world.conditions('c1')).toContain('Deleting=False/RemovalHeld');
  await world.accept('c1', false);
  // The binding of the work agent stays until the last work is gone.
  await expect.poll(bindings).toBe(1);
  expect(await works()).toBe(1);
});

it('a pass that finds the cluster gone already, because its cache is behind, says nothing', async () => {
  await selectedCluster({ decides: 'none' });
  await world.stop();
  let repeated = 0;
  const mergePatch: KubeApi['mergePatch'] = async (kind, key, patch, options) => {
    const written = await world.api.mergePatch(kind, key, patch, options);
    if (kind !== MANAGED_CLUSTER || (await world.get(kind, key.name)) !== undefined) return written;
    repeated++;
    return world.api.mergePatch(kind, key, patch, options);
  };
  const api = withMergePatch(world.api, mergePatch);
  await world.patch(MANAGED_CLUSTER, 'c1', { metadata: { finalizers: [RESOURCE_FINALIZER] } });
  world.start({ duties: ['cleanup'], api });
  await deleteCluster();
  await expect.poll(() => world.get(MANAGED_CLUSTER, 'c1')).toBeUndefined();
  await expect.poll(() => world.events.filter(({ action }) => action === 'cleaned-up')).toHaveLength(1);
  expect(repeated).toBe(1);
  expect(world.log.entries.filter(({ level }) => level === 'warn')).toEqual([]);
});
