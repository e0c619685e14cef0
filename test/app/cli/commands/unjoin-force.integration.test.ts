import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  LEASE,
  MANAGED_CLUSTER,
  MANIFEST_WORK,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import { CLUSTER_LEASE } from '@berth/ocm/registration/names';
import { runCli } from '../../../../src/app/cli/program.ts';
import { RegistrationWorld } from '../../../controllers/registration/registration-world.ts';
import { makeCliIo } from '../../cli-harness.ts';

const AGENTS = 'cluster.open-cluster-management.io/manifest-work-cleanup';
const OTHERS = 'example.com/backup';

let world: RegistrationWorld;
beforeEach(async () => {
  world = await RegistrationWorld.create({ decides: 'all' });
});
afterEach(() => world.close());

const unjoin = (...more: readonly string[]) => {
  const { io, stdout, stderr } = makeCliIo({ env: { KUBECONFIG: world.hub.kubeconfig } });
  const ended = runCli(['unjoin', '--cluster-name', 'edge', ...more], io);
  return { ended, stdout, stderr };
};
const force = async (...more: readonly string[]) => {
  const { ended, stdout, stderr } = unjoin('--force', ...more);
  return { code: await ended, stdout: stdout(), stderr: stderr() };
};
const works = async () =>
  (await world.api.list(MANIFEST_WORK, { namespace: 'edge' })).items.map(
    ({ metadata: { name, finalizers = [] } }) => `${name}: ${finalizers.join()}`,
  );

/** An accepted cluster with a work, whose agent has ended. */
async function lostCluster(finalizers: readonly string[] = [AGENTS]): Promise<void> {
  await world.accepted('edge');
  await world.work('edge', 'web', { finalizers });
  await available('Unknown');
  await renew('2026-01-01T00:00:00.000000Z');
}

async function available(status: string): Promise<void> {
  const [type, at] = ['ManagedClusterConditionAvailable', '2026-01-01T00:00:00Z'];
  const { conditions = [] } = ((await world.get(MANAGED_CLUSTER, 'edge'))?.['status'] ?? {}) as {
    conditions?: { type: string }[];
  };
  const condition = { type, status, reason: 'Test', message: '', lastTransitionTime: at };
  const others = conditions.filter((one) => one.type !== type);
  await world.api.mergePatch(
    MANAGED_CLUSTER,
    { namespace: '', name: 'edge' },
    { status: { conditions: [...others, condition] } },
    { subresource: 'status' },
  );
}

const renew = (renewTime: string) => world.patch(LEASE, CLUSTER_LEASE, { spec: { renewTime } }, 'edge');
const now = (): string => new Date().toISOString().replace('Z', '000Z');

describe('berth unjoin --force on the hub', () => {
  it('removes the cluster and its works, and says what the cluster keeps', async () => {
    await lostCluster();
    const { code, stdout } = await force();
    expect(stdout).toContain(
      'The cluster keeps, if it still exists: ManifestWork web: ConfigMap default/web\n',
    );
    expect(stdout).toContain('The hub has forgotten edge.');
    expect(code).toBe(0);
    expect(await world.get(MANAGED_CLUSTER, 'edge')).toBeUndefined();
    expect(await works()).toEqual([]);
    expect(await force()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing to do') as string,
    });
  });

  it('changes nothing with --dry-run, and nothing without --force', async () => {
    await lostCluster();
    const { stdout } = await force('--dry-run');
    expect(stdout).toContain('would forget the cluster edge (dry run)');
    expect(stdout).toContain('  ManifestWork web: ConfigMap default/web\n');
    await unjoin().ended;
    expect((await world.get(MANAGED_CLUSTER, 'edge'))?.metadata.deletionTimestamp).toBeUndefined();
    expect(await works()).toEqual([`web: ${AGENTS}`]);
  });

  it.each([
    ['the hub reports it as available', 'True', '2026-01-01T00:00:00.000000Z', 'reports it as available'],
    ['its agent has renewed its Lease', 'Unknown', undefined, 'its agent renewed its Lease at'],
  ])('removes nothing of a cluster that is not gone: %s', async (_title, status, renewTime, said) => {
    await lostCluster();
    await available(status);
    await renew(renewTime ?? now());
    const { code, stderr } = await force();
    expect(stderr).toContain(`cluster edge: is not gone: `);
    expect(stderr).toContain(said);
    expect(code).toBe(1);
    expect((await world.get(MANAGED_CLUSTER, 'edge'))?.metadata.deletionTimestamp).toBeUndefined();
    expect(await works()).toEqual([`web: ${AGENTS}`]);
  });

  it('stops when the agent comes back meanwhile', async () => {
    await lostCluster([OTHERS]);
    // It is deleted after the other one, which somebody else keeps for now.
    const later = { 'open-cluster-management.io/cleanup-priority': '9' };
    await world.work('edge', 'later', { finalizers: [AGENTS], annotations: later });
    const { ended, stderr } = unjoin('--force');
    await expect.poll(stderr).toContain('cluster edge: is still being deleted: ResourceRemaining');
    await renew(now());
    expect(await ended).toBe(1);
    expect(stderr()).toContain('is not gone: its agent renewed its Lease');
    await world.patch(MANIFEST_WORK, 'web', { metadata: { finalizers: null } }, 'edge');
    const isDeleted = async () =>
      (await world.get(MANIFEST_WORK, 'later', 'edge'))?.metadata.deletionTimestamp !== undefined;
    await expect.poll(isDeleted).toBe(true);
    expect(await works()).toEqual([`later: ${AGENTS}`]);
  });

  it('leaves a held deletion held', async () => {
    await lostCluster();
    await world.make(NAMESPACE, { metadata: { name: 'team' } });
    const annotations = { 'berth.dev/scheduler': 'berth' };
    await world.make(PLACEMENT, { metadata: { name: 'web', namespace: 'team', annotations }, spec: {} });
    const [labels, page] = [{ 'cluster.open-cluster-management.io/placement': 'web' }, 'web-decision-1'];
    await world.make(PLACEMENT_DECISION, { metadata: { name: page, namespace: 'team', labels } });
    const status = { subresource: 'status' } as const;
    const decisions = [{ clusterName: 'edge', reason: '' }];
    await world.api.mergePatch(
      PLACEMENT_DECISION,
      { namespace: 'team', name: page },
      { status: { decisions } },
      status,
    );
    const held = {
      ...{ type: 'berth.dev/Held', status: 'True', reason: 'WouldEmpty' },
      ...{ message: 'The only cluster would be removed.', lastTransitionTime: '2026-01-01T00:00:00Z' },
    };
    const key = { namespace: 'team', name: 'web' };
    await world.api.mergePatch(PLACEMENT, key, { status: { conditions: [held] } }, status);
    const { code, stderr } = await force();
    expect(stderr).toContain('its deletion is held (RemovalHeld)');
    expect(stderr).toContain('placement team/web selects the cluster');
    expect(code).toBe(1);
    expect(await works()).toEqual([`web: ${AGENTS}`]);
  });
});
