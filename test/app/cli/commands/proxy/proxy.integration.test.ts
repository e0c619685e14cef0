import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { withHub } from '@berth/addon/testing';
import { CONFIG_MAP, MANAGED_CLUSTER_ADDON, NAMESPACE } from '@berth/kube/model/kinds';
import { findProgram } from '@berth/test-kit/needed-program';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { describe, expect, it } from 'vitest';
import { accountToken, bind } from '../../../../../packages/access/test/access-world.ts';
import { runCli } from '../../../../../src/app/cli/program.ts';
import { makeCliIo } from '../../../cli-harness.ts';

const kubectl = findProgram('kubectl');

describe.skipIf(kubectl === undefined)('berth proxy', () => {
  it('goes from nothing to kubectl on a cluster', async () => {
    await withHub(
      async ({ hub, cluster, kubeconfigs, run, waitFor, signal }) => {
        const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
        await hub.create(NAMESPACE, namespace('open-cluster-management-hub'));
        const hubFlags = ['--kubeconfig', kubeconfigs.hub];
        const clusterFile = kubeconfigs.clusters.get('cluster1') ?? '';
        const { env } = process;
        const cli = async (...args: string[]) => {
          const { io, stdout, stderr } = makeCliIo({ env });
          return { code: await runCli(['proxy', ...args], io), stdout: stdout(), stderr: stderr() };
        };
        const early = await cli(
          'kubeconfig',
          '--cluster',
          'cluster1',
          ...hubFlags,
          '--service-account',
          'default/alice',
        );
        expect([early.code, early.stderr]).toEqual([
          1,
          expect.stringContaining('berth proxy serve writes it'),
        ]);

        const served = makeCliIo({ env, signal });
        const listen = ['--listen', '127.0.0.1:0', '--agent-listen', '127.0.0.1:0'];
        run(() => runCli(['proxy', 'serve', ...hubFlags, ...listen], served.io));
        run(() => runCli(['proxy', 'agent', '--kubeconfig', clusterFile], makeCliIo({ env, signal }).io));
        await hub.create(MANAGED_CLUSTER_ADDON, {
          ...{ apiVersion: 'addon.open-cluster-management.io/v1alpha1', kind: 'ManagedClusterAddOn' },
          ...{ metadata: { namespace: 'cluster1', name: 'cluster-proxy' }, spec: {} },
        });
        await accountToken(hub, 'alice');
        await bind(cluster, 'edit', {
          kind: 'User',
          name: 'cluster:hub:system:serviceaccount:default:alice',
        });
        const as = [...hubFlags, '--service-account', 'default/alice'];
        await waitFor(async () => (await cli('health', ...as)).code === 0);
        const health = await cli('health', ...as);
        expect(health.stdout).toMatch(
          /^CLUSTER +TUNNEL +ROUND TRIP +REQUEST +TOKEN +ALLOWED IN default\ncluster1 +\d+s +[\d.]+ ms +\d+ ms +write\n$/,
        );
        const other = await cli('health', ...as, '--clusters', 'cluster1,cluster9');
        expect([other.code, other.stdout]).toEqual([
          1,
          expect.stringContaining('the hub has no cluster "cluster9"'),
        ]);

        const { stdout } = await cli('kubeconfig', '--cluster', 'cluster1', ...as);
        const file = join(dirname(kubeconfigs.hub), 'through.kubeconfig');
        writeFileSync(file, stdout, { mode: 0o600 });
        const created = await promisify(execFile)(kubectl ?? '', [
          '--kubeconfig',
          file,
          'create',
          'configmap',
          'one',
        ]);
        expect(created.stdout).toContain('configmap/one created');

        const call = ['kubectl', '--cluster', 'cluster1', ...as, '--'];
        expect((await cli(...call, 'create', 'configmap', 'two', '-o', 'name')).code).toBe(0);
        expect(await cluster.get(CONFIG_MAP, { namespace: 'default', name: 'two' })).toBeDefined();
        expect((await cli(...call, 'get', 'nodes')).code).toBe(1);

        // The administrator of the hub is not that of the cluster.
        const { stdout: ofAdmin } = await cli('kubeconfig', '--cluster', 'cluster1', ...hubFlags);
        writeFileSync(file, ofAdmin, { mode: 0o600 });
        const whoami = ['--kubeconfig', file, 'auth', 'whoami', '-o', 'json'];
        expect((await promisify(execFile)(kubectl ?? '', whoami)).stdout).toContain(
          'cluster:hub:system:masters',
        );
      },
      { patienceMs: PATIENCE_MS },
    );
  });

  it.each([
    { args: ['serve', '--listen', ':9092'], want: 'say which one others use' },
    { args: ['serve', '--public-url', 'http://x'], want: 'a URL such as https://clusters.example.com' },
    { args: ['serve', '--agent-address', 'x'], want: 'HOST:PORT' },
    { args: ['health', '--certificate-authority', 'x'], want: 'has no effect without --server' },
    { args: ['kubectl', '--', 'get', 'pods'], want: "required option '--cluster <name>'" },
  ])('refuses $args', async ({ args, want }) => {
    const { io, stderr } = makeCliIo();
    expect(await runCli(['proxy', ...args], io)).toBe(1);
    expect(stderr()).toContain(want);
  });
});
