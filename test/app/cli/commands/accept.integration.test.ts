import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../../src/app/cli/program.ts';
import { MANAGED_CLUSTER, NAMESPACE } from '@berth/kube/model/kinds';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import { freshKey, RegistrationWorld } from '../../../controllers/registration/registration-world.ts';
import { makeCliIo } from '../../cli-harness.ts';

let world: RegistrationWorld;
beforeEach(async () => {
  world = await RegistrationWorld.create();
});
afterEach(() => world.close());

async function accept(...args: string[]) {
  const { io, stdout, stderr } = makeCliIo();
  const code = await runCli(['accept', ...args, '--kubeconfig', world.hub.kubeconfig], io);
  return { code, stdout: stdout(), stderr: stderr() };
}

const isAccepted = async (name: string): Promise<unknown> =>
  ((await world.get(MANAGED_CLUSTER, name))?.['spec'] as { hubAcceptsClient?: boolean }).hubAcceptsClient;

describe('berth accept', () => {
  it('lets a cluster join, and a second time says that it is done', async () => {
    await world.register('c1');
    const request = await world.request('c1', freshKey());
    // The administrator asked, who is no bootstrap user.
    const refused = await accept('--clusters', 'c1', '--dry-run');
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('is no bootstrap user') });
    expect(await isAccepted('c1')).toBe(false);

    const done = await accept('-c', 'c1', '--skip-approve-check');
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout.split('\n')).toEqual([
      'Starting approve csrs for the cluster c1',
      `CSR ${request} approved`,
      'set hubAcceptsClient to true for managed cluster c1',
      'Managed cluster c1 is accepted: its agent joins with the certificate',
      '',
    ]);
    await expect.poll(() => world.certificate(request)).toBeDefined();
    expect((await accept('--cluster', 'c1')).stdout.split('\n').slice(1, 3)).toEqual([
      `CSR ${request} already approved`,
      'hubAcceptsClient already set for managed cluster c1',
    ]);
  });

  it('approves nothing when one of the clusters is missing', async () => {
    await world.register('c1');
    await world.request('c1', freshKey());
    const { code, stderr } = await accept('--clusters', 'c1,c2', '--skip-approve-check');
    expect(code).toBe(1);
    expect(stderr).toContain('ManagedCluster c2: the hub has no such cluster');
    expect(await isAccepted('c1')).toBe(false);
  });

  it('gives the namespace of others to no cluster', async () => {
    await world.make(NAMESPACE, { metadata: { name: 'payments' } });
    await world.register('payments');
    const { code, stderr } = await accept('--clusters', 'payments', '--wait', '--skip-approve-check');
    expect(code).toBe(1);
    expect(stderr).toContain(
      'kubectl label namespace payments open-cluster-management.io/cluster-name=payments',
    );
    expect(await isAccepted('payments')).toBe(false);
    const labels = { 'open-cluster-management.io/cluster-name': 'payments' };
    await world.patch(NAMESPACE, 'payments', { metadata: { labels } });
    await world.request('payments', freshKey());
    expect((await accept('--clusters', 'payments', '--skip-approve-check')).code).toBe(0);
  });

  it('approves no agent beside one that is alive, unless it is named', async () => {
    await world.register('c1');
    await world.request('c1', freshKey());
    await accept('--clusters', 'c1', '--skip-approve-check');
    const { accepted, joined, available } = CLUSTER_CONDITIONS;
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const conditions = [accepted, joined, available].map((one) => ({ ...one, lastTransitionTime }));
    const key = { namespace: '', name: 'c1' };
    await world.api.mergePatch(MANAGED_CLUSTER, key, { status: { conditions } }, { subresource: 'status' });
    const stranger = await world.request('c1', freshKey(), world.api, 'agent2');
    const left = await accept('--clusters', 'c1');
    expect(left.stdout).toMatch(
      new RegExp(`CSR ${stranger} is not approved: .*another cluster with this name`),
    );
    expect(await world.certificate(stranger)).toBeUndefined();
  });

  it('waits for a cluster that registers later', async () => {
    const waiting = accept('--clusters', 'c1', '--wait', '--skip-approve-check');
    await world.register('c1');
    await expect.poll(() => isAccepted('c1')).toBe(true);
    const request = await world.request('c1', freshKey());
    expect(await waiting).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`CSR ${request} approved`),
    });
  });

  it('accepts a cluster whose agent has not asked, and says that', async () => {
    await world.register('c1');
    const { code, stderr } = await accept('--clusters', 'c1', '--wait', '--timeout', '1');
    expect(code).toBe(1);
    expect(stderr).toContain('no CSR is approved yet for cluster c1');
    expect(await isAccepted('c1')).toBe(true);
  });

  it.each([
    [[], '--clusters: expected names'],
    [['--clusters', 'c1', '--timeout', 'soon'], '--timeout: got "soon"'],
  ])('refuses %j', async (args, problem) => {
    const { code, stderr } = await accept(...args);
    expect(code).toBe(1);
    expect(stderr).toContain(problem);
  });
});
