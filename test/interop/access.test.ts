import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { clusterProxy } from '@berth/access/addon/cluster-proxy';
import { createIfAbsent } from '@berth/kube/create-if-absent';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { CLUSTER_ROLE, kind, NAMESPACE, POD, SERVICE_ACCOUNT } from '@berth/kube/model/kinds';
import { requestToken } from '@berth/kube/request-token';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authority, openPath } from '../../packages/access/test/access-path.ts';
import { bind } from '../../packages/access/test/access-world.ts';
import { runCli } from '../../src/app/cli/program.ts';
import { makeCliIo } from '../app/cli-harness.ts';
import { CONTROL_PLANE_PROGRAMS, type ControlPlane, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { itReachesAPod, kubectl, NODES, podOf } from './pod-requests.ts';

const ADDON_NAMESPACE = 'open-cluster-management-agent-addon';
const ALICE = {
  username: 'alice',
  groups: ['dev', 'system:masters'],
  extra: { 'example.com/team': ['a', 'b'] },
};
const EXPOSED = [{ namespace: 'default', service: 'web', protocol: 'http' }];
/** kube-apiserver proxies to no loopback address. */
const OWN_ADDRESS = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;

/** No controller is there to fill the role `edit`. */
const EDITOR = {
  ...{
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'berth-test-editor' },
  },
  rules: [
    {
      apiGroups: [''],
      resources: ['configmaps', 'pods', 'pods/log'],
      verbs: ['get', 'list', 'watch', 'create', 'patch'],
    },
    {
      apiGroups: [''],
      resources: ['pods/exec', 'pods/attach', 'pods/portforward'],
      verbs: ['get', 'create'],
    },
  ],
};

const SERVICE_READER = {
  ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
  metadata: { name: 'berth-test-service-reader' },
  rules: [{ apiGroups: [''], resources: ['services/proxy'], verbs: ['get'] }],
};

/** A service of this address, which no controller writes. */
async function createService(api: HttpKubeApi, name: string, port: number): Promise<void> {
  const metadata = { namespace: 'default', name };
  const ports = [{ port: 80, targetPort: port }];
  await api.create(kind('', 'v1', 'Service', 'Namespaced'), {
    ...{ apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } },
  });
  // The API server proxies to the address of a pod only.
  const pod = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata },
    spec: { containers: [{ name, image: name }] },
  };
  await createIfAbsent(api, SERVICE_ACCOUNT, {
    ...{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...metadata, name: 'default' } },
  });
  await api.create(POD, pod);
  const status = { podIP: OWN_ADDRESS, podIPs: [{ ip: OWN_ADDRESS }] };
  await api.mergePatch(POD, metadata, { status }, { subresource: 'status' });
  const endpoints = { ...kind('', 'v1', 'Endpoints', 'Namespaced'), plural: 'endpoints' };
  await api.create(endpoints, {
    ...{ apiVersion: 'v1', kind: 'Endpoints', metadata },
    subsets: [
      { addresses: [{ ip: OWN_ADDRESS, targetRef: { kind: 'Pod', ...metadata } }], ports: [{ port }] },
    ],
  });
}

/** With what the add-on brings, and nothing more. */
async function openThrough(kubeconfig: string, folder: string) {
  const api = new HttpKubeApi({ config: loadKubeConfig({ file: kubeconfig }), clock });
  if ((await api.get(NAMESPACE, { namespace: '', name: ADDON_NAMESPACE })) === undefined)
    await api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ADDON_NAMESPACE } });
  const addOn = clusterProxy({ authority, agentAddress: 'unused:1', image: 'unused' });
  const context = { cluster: { metadata: { name: 'c' } }, installNamespace: ADDON_NAMESPACE, values: {} };
  const manifests = (await addOn.manifests(context as never)).filter(({ kind }) => kind !== 'Deployment');
  for (const manifest of manifests) {
    const found = await api.resolve(manifest.apiVersion, manifest.kind);
    if (found !== undefined) await api.apply(found, manifest, { fieldManager: 'test', force: true });
  }
  await api.apply(CLUSTER_ROLE, EDITOR, { fieldManager: 'test', force: true });
  await bind(api, EDITOR.metadata.name, { kind: 'User', name: 'alice' });
  const account = { namespace: ADDON_NAMESPACE, name: 'cluster-proxy-agent' };
  const cluster = loadKubeConfig({ file: kubeconfig }).getCurrentCluster();
  const agentFile = join(folder, 'agent.kubeconfig');
  const ca = cluster?.caData ?? readFileSync(cluster?.caFile ?? '').toString('base64');
  const entry = { server: cluster?.server, 'certificate-authority-data': ca };
  writeFileSync(agentFile, kubeconfigOf(entry, await requestToken(api, account, 3_600)));
  const path = await openPath(loadKubeConfig({ file: agentFile }), { alice: ALICE }, { exposed: EXPOSED });
  const file = join(folder, 'alice.kubeconfig');
  const own = {
    server: `${path.url}/cluster1`,
    'certificate-authority-data': Buffer.from(authority.certPem).toString('base64'),
  };
  writeFileSync(file, kubeconfigOf(own, 'alice'));
  const ask = async (...args: string[]) =>
    (await promisify(execFile)(kubectl, ['--kubeconfig', file, ...args])).stdout;
  return { api, path, file, ask };
}

function kubeconfigOf(cluster: object, token: string): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c', clusters: [{ name: 'c', cluster }] },
    ...{
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    },
  });
}

type Through = Awaited<ReturnType<typeof openThrough>>;

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS) || kubectl === '')(
  'a cluster with kube-apiserver, through the hub',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'berth-access-'));
    let plane: ControlPlane;
    let through: Through;
    beforeAll(async () => {
      plane = await startControlPlane();
      through = await openThrough(plane.kubeconfig, folder);
    });
    afterAll(async () => {
      await through?.path.close();
      through?.api.close();
      await plane?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it('sees who asks, and decides', async () => {
      const { status } = JSON.parse(await through.ask('auth', 'whoami', '-o', 'json')) as {
        readonly status: { readonly userInfo: { username: string; groups: string[]; extra: object } };
      };
      const { username, groups, extra } = status.userInfo;
      expect(username).toBe('alice');
      expect(groups.sort()).toEqual(['cluster:hub:system:masters', 'dev', 'system:authenticated']);
      expect(extra).toEqual(ALICE.extra);
      await expect(through.ask('get', 'clusterroles')).rejects.toThrow(
        'User "alice" cannot list resource "clusterroles"',
      );
      await expect(through.ask('get', 'pods', '--as', 'root')).rejects.toThrow('cannot impersonate others');
    });

    it.skipIf(OWN_ADDRESS === undefined)(
      'shows an exposed service to whom the cluster lets see it',
      async () => {
        const seen: (string | undefined)[] = [];
        const service = createServer((request, answer) => {
          seen.push(request.url, request.headers.authorization);
          answer.end('hello of the service\n');
        });
        service.listen(0, OWN_ADDRESS);
        await once(service, 'listening');
        const { port } = service.address() as AddressInfo;
        await createService(through.api, 'web', port);
        await createService(through.api, 'hidden', port);
        const stop = new AbortController();
        const ca = join(folder, 'ca.pem');
        writeFileSync(ca, authority.certPem);
        const forward = async (name: string): Promise<string> => {
          const { io, stdout } = makeCliIo({ env: process.env, signal: stop.signal });
          const access = ['--kubeconfig', through.file, '--server', through.path.url];
          const ended = runCli(
            [
              ...['proxy', 'forward', `default/${name}:80`, '--cluster', 'cluster1', '--protocol', 'http'],
              ...[...access, '--certificate-authority', ca, '--listen', '127.0.0.1:0'],
            ],
            io,
          );
          await expect.poll(stdout).toContain('http://127.0.0.1:');
          running.push(ended);
          return /http:\S+/.exec(stdout())?.[0] ?? '';
        };
        const running: Promise<number>[] = [];
        try {
          const url = await forward('web');
          const refused = await fetch(url);
          expect([refused.status, await refused.text()]).toEqual([
            403,
            expect.stringContaining('User \\"alice\\" cannot get resource \\"services/proxy\\"'),
          ]);
          await through.api.apply(CLUSTER_ROLE, SERVICE_READER, { fieldManager: 'test' });
          await bind(through.api, SERVICE_READER.metadata.name, { kind: 'User', name: 'alice' });
          await expect.poll(async () => (await fetch(`${url}a/b?c=d`)).text()).toBe('hello of the service\n');
          expect(await (await fetch(`${url}a/b?c=d`)).text()).toBe('hello of the service\n');
          expect(seen.slice(-2)).toEqual(['/a/b?c=d', undefined]);
          const hidden = await fetch(await forward('hidden'));
          expect([hidden.status, await hidden.text()]).toEqual([
            403,
            expect.stringContaining('service default/hidden is not in the exposed services allowlist'),
          ]);
        } finally {
          stop.abort();
          await Promise.all(running);
          service.close();
          service.closeAllConnections();
        }
      },
    );

    it('is changed and watched by kubectl', async () => {
      expect(await through.ask('create', 'configmap', 'colours', '--from-literal=sky=blue')).toContain(
        'created',
      );
      const watched = through.ask(
        'wait',
        '--for=jsonpath={.data.sky}=red',
        'configmap/colours',
        '--timeout=60s',
      );
      await through.ask('patch', 'configmap', 'colours', '--type=merge', '-p', '{"data":{"sky":"red"}}');
      expect(await watched).toContain('condition met');
      expect(await through.ask('get', 'configmaps', '-A', '-o', 'name')).toContain('configmap/colours');
    });
  },
);

describe.skipIf(NODES === undefined || kubectl === '')(
  'pods of a cluster with nodes, through the hub',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'berth-access-'));
    let through: Through;
    beforeAll(async () => {
      through = await openThrough(NODES ?? '', folder);
      await through.api.create(POD, podOf('web'));
      await through.ask('wait', '--for=condition=Ready', 'pod/web', '--timeout=120s');
    });
    afterAll(async () => {
      await through?.api.delete(POD, { namespace: 'default', name: 'web' });
      await through?.path.close();
      through?.api.close();
      rmSync(folder, { recursive: true, force: true });
    });

    itReachesAPod('web', () => through);
  },
);
