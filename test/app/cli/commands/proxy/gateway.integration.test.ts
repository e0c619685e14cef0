import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type HubWorld, withHub } from '@berth/addon/testing';
import { findProgram } from '@berth/test-kit/needed-program';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { describe, expect, it } from 'vitest';
import { bind, namespace } from '../../../../../packages/access/test/access-world.ts';
import { runCli } from '../../../../../src/app/cli/program.ts';
import { makeCliIo } from '../../../cli-harness.ts';

const kubectl = findProgram('kubectl');
const HUB_NAMESPACE = 'open-cluster-management-addon';
const ACCOUNTS_NAMESPACE = 'open-cluster-management-managed-serviceaccount';
const ACCOUNT = `system:serviceaccount:${ACCOUNTS_NAMESPACE}:cluster-gateway`;
const PREFIX = '/apis/cluster.core.oam.dev/v1alpha1/clustergateways/managed1/proxy';

/** What the guide "Pushing Kubernetes API requests to the managed clusters" of OCM installs, by commands of Berth. */
async function withGateway(test: (world: HubWorld & { readonly logs: () => string }) => Promise<void>) {
  await withHub(
    async (world) => {
      const { kubeconfigs, run, signal, waitFor } = world;
      const { env } = process;
      const hub = ['--kubeconfig', kubeconfigs.hub];
      const addresses = join(dirname(kubeconfigs.hub), 'addresses.yaml');
      writeFileSync(addresses, 'publicUrl: https://127.0.0.1:1\nagentAddress: 127.0.0.1:2\n');
      const cli = async (...args: string[]): Promise<void> => {
        const { io, stderr } = makeCliIo({ env, signal });
        expect([await runCli(args, io), stderr()]).toEqual([0, '']);
      };
      const addOns = ['--names', 'cluster-proxy,managed-serviceaccount,cluster-gateway'];
      await cli(
        ...['install', 'hub-addon', ...addOns, '--values', addresses, ...hub],
        ...['--namespace', HUB_NAMESPACE, '--create-namespace'],
      );
      for (const name of [ACCOUNTS_NAMESPACE, 'open-cluster-management-agent-addon'])
        await namespace(world.cluster, name);
      // The hub and its cluster run no pods.
      const own = ['--namespace', HUB_NAMESPACE, ...hub];
      const cluster = ['--kubeconfig', kubeconfigs.clusters.get('managed1') ?? ''];
      const log = makeCliIo({ env, signal });
      const start = (...args: string[]): void => run(() => runCli(args, log.io));
      start('proxy', 'serve', '--listen', '127.0.0.1:0', '--agent-listen', '127.0.0.1:0', ...own);
      start('accounts', 'serve', ...hub);
      start('gateway', 'serve', '--listen', '127.0.0.1:0', '--log-format', 'json', ...own);
      start('proxy', 'agent', ...cluster);
      start('accounts', 'agent', '--namespace', ACCOUNTS_NAMESPACE, ...cluster);
      const enable = ['addon', 'enable', '--clusters', 'managed1', ...hub];
      await cli(...enable, '--names', 'cluster-proxy,cluster-gateway');
      await cli(...enable, '--names', 'managed-serviceaccount', '--namespace', ACCOUNTS_NAMESPACE);
      const logs = (): string => log.stderr() + log.stdout();
      await waitFor(
        async () => (await kubectlOn(kubeconfigs.hub)('get', '--raw', `${PREFIX}/healthz`)) === 'ok',
      );
      await test({ ...world, logs });
    },
    { clusters: ['managed1'], patienceMs: PATIENCE_MS },
  );
}

function kubectlOn(kubeconfig: string) {
  return async (...args: string[]): Promise<string> =>
    (await promisify(execFile)(kubectl ?? '', ['--kubeconfig', kubeconfig, ...args])).stdout;
}

describe.skipIf(kubectl === undefined)('berth gateway', () => {
  it('serves what the guide of OCM shows, word for word', async () => {
    await withGateway(async ({ kubeconfigs, cluster, waitFor, logs }) => {
      const onHub = kubectlOn(kubeconfigs.hub);
      const rows = await waitFor(async () => {
        const text = await onHub('get', 'managedclusteraddon', '-A');
        return text.match(/ True /g)?.length === 3 ? text : undefined;
      });
      expect(rows).toMatch(/^NAMESPACE +NAME +AVAILABLE +DEGRADED +PROGRESSING *\n/);
      expect(rows.match(/^managed1 +\S+ +\S+/gm)?.map((row) => row.replace(/ +/g, ' '))).toEqual([
        'managed1 cluster-gateway True',
        'managed1 cluster-proxy True',
        'managed1 managed-serviceaccount True',
      ]);
      expect((await onHub('get', 'clustergateway')).replace(/ +$/gm, '')).toBe(
        'NAME       PROVIDER   CREDENTIAL-TYPE       ENDPOINT-TYPE\n' +
          'managed1              ServiceAccountToken   ClusterProxy\n',
      );
      expect(await onHub('get', '--raw', `${PREFIX}/healthz`)).toBe('ok');

      // The kubeconfig of the hub, with the suffix.
      const file = join(dirname(kubeconfigs.hub), 'managed1.kubeconfig');
      const text = readFileSync(kubeconfigs.hub, 'utf8');
      writeFileSync(file, text.replace(/^( +server: "?[^"\s]+)/m, `$1${PREFIX}`), { mode: 0o600 });
      const onCluster = kubectlOn(file);
      await expect(onCluster('get', 'ns')).rejects.toThrow(
        `Error from server (Forbidden): namespaces is forbidden: User "${ACCOUNT}" cannot list resource "namespaces" in API group "" at the cluster scope`,
      );
      const subject = {
        apiGroup: '',
        kind: 'ServiceAccount',
        namespace: ACCOUNTS_NAMESPACE,
        name: 'cluster-gateway',
      };
      await bind(cluster, 'cluster-admin', subject);
      expect(await waitFor(() => onCluster('get', 'ns', '-o', 'name'))).toContain(
        `namespace/${ACCOUNTS_NAMESPACE}`,
      );
      expect(await onCluster('create', 'configmap', 'colours', '--from-literal=sky=blue')).toContain(
        'created',
      );
      expect(await onCluster('create', 'configmap', 'not', '--dry-run=server')).toContain('server dry run');
      await expect(onCluster('get', 'configmap', 'not')).rejects.toThrow('NotFound');
      const watched = onCluster(
        'wait',
        '--for=jsonpath={.data.sky}=red',
        'configmap/colours',
        '--timeout=60s',
      );
      await onCluster('patch', 'configmap', 'colours', '--type=merge', '-p', '{"data":{"sky":"red"}}');
      expect(await watched).toContain('condition met');

      // Who asks as somebody else, asks the hub first.
      const raw = ['get', '--raw', `${PREFIX}/api/v1/nodes`, '--as', 'alice'];
      await expect(onHub(...raw)).rejects.toThrow('cannot get resource "clustergateways/proxy"');
      const asked = [...logs().matchAll(/\{.*"msg":"request".*\}/g)].map(
        ([line]) => JSON.parse(line) as object,
      );
      expect(asked).toContainEqual(
        expect.objectContaining({
          cluster: 'managed1',
          user: 'admin',
          as: ACCOUNT,
          method: 'POST',
          status: 201,
        }),
      );
    });
  });

  it.each([
    { args: ['--listen', ':9443'], want: 'say with --address which one the hub uses' },
    { args: ['--address', 'x:1', '--service', 'y'], want: 'has no effect with --service' },
    { args: ['--address', 'x'], want: 'HOST:PORT' },
  ])('refuses $args', async ({ args, want }) => {
    const { io, stderr } = makeCliIo();
    expect(await runCli(['gateway', 'serve', ...args], io)).toBe(1);
    expect(stderr()).toContain(want);
  });
});
