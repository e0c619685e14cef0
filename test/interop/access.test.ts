import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { clusterProxy } from '@berth/access/addon/cluster-proxy';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { CLUSTER_ROLE, NAMESPACE, POD } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { requestToken } from '@berth/kube/request-token';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import { findProgram } from '@berth/test-kit/needed-program';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authority, openPath } from '../../packages/access/test/access-path.ts';
import { bind } from '../../packages/access/test/access-world.ts';
import { CONTROL_PLANE_PROGRAMS, type ControlPlane, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';

const kubectl = findProgram('kubectl') ?? '';
const ADDON_NAMESPACE = 'open-cluster-management-agent-addon';
const ALICE = {
  username: 'alice',
  groups: ['dev', 'system:masters'],
  extra: { 'example.com/team': ['a', 'b'] },
};
/** A cluster with nodes that is thrown away afterwards, and an image of it that serves HTTP on port 8080. */
const NODES = process.env['BERTH_NODES_KUBECONFIG'];
const NODES_IMAGE = process.env['BERTH_NODES_WEB_IMAGE'] ?? 'localhost/web:1';

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
    { apiGroups: [''], resources: ['pods/exec', 'pods/portforward'], verbs: ['get', 'create'] },
  ],
};

/** With what the add-on brings, and nothing more. */
async function openThrough(kubeconfig: string, folder: string) {
  const api = new HttpKubeApi({ config: loadKubeConfig({ file: kubeconfig }), clock });
  if ((await api.get(NAMESPACE, { namespace: '', name: ADDON_NAMESPACE })) === undefined)
    await api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ADDON_NAMESPACE } });
  const addOn = clusterProxy({ authority, agentAddress: 'unused:1', image: 'unused' });
  const context = { cluster: { metadata: { name: 'c' } }, installNamespace: ADDON_NAMESPACE, values: {} };
  const manifests = (await addOn.manifests(context as never)).filter(({ kind }) => kind !== 'Deployment');
  for (const manifest of manifests) {
    const kind = await api.resolve(manifest.apiVersion, manifest.kind);
    if (kind !== undefined) await api.apply(kind, manifest, { fieldManager: 'test', force: true });
  }
  await api.apply(CLUSTER_ROLE, EDITOR, { fieldManager: 'test', force: true });
  await bind(api, EDITOR.metadata.name, { kind: 'User', name: 'alice' });
  const account = { namespace: ADDON_NAMESPACE, name: 'cluster-proxy-agent' };
  const cluster = loadKubeConfig({ file: kubeconfig }).getCurrentCluster();
  const agentFile = join(folder, 'agent.kubeconfig');
  const ca = cluster?.caData ?? readFileSync(cluster?.caFile ?? '').toString('base64');
  const entry = { server: cluster?.server, 'certificate-authority-data': ca };
  writeFileSync(agentFile, kubeconfigOf(entry, await requestToken(api, account, 3_600)));
  const path = await openPath(loadKubeConfig({ file: agentFile }), { alice: ALICE });
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
      const container = { name: 'web', image: NODES_IMAGE, imagePullPolicy: 'Never', stdin: true };
      const pod: KubeObject = {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name: 'web' } },
        spec: { containers: [container], terminationGracePeriodSeconds: 0 },
      };
      await through.api.create(POD, pod);
      await through.ask('wait', '--for=condition=Ready', 'pod/web', '--timeout=120s');
    });
    afterAll(async () => {
      await through?.api.delete(POD, { namespace: 'default', name: 'web' });
      await through?.path.close();
      through?.api.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it.each(['true', 'false'])(
      'exec carries both directions and the exit code (WebSocket: %s)',
      async (webSockets) => {
        const env = { ...process.env, KUBECTL_REMOTE_COMMAND_WEBSOCKETS: webSockets };
        const child = spawn(
          kubectl,
          ['--kubeconfig', through.file, 'exec', '-i', 'web', '--', 'sh', '-c', 'cat; exit 7'],
          { env },
        );
        const parts: Buffer[] = [];
        child.stdout.on('data', (part: Buffer) => parts.push(part));
        const sent = Buffer.alloc(2 * 1024 * 1024, 'abcdefg');
        child.stdin.end(sent);
        const [code] = await once(child, 'close');
        expect([code, Buffer.concat(parts).equals(sent)]).toEqual([7, true]);
      },
    );

    it('logs -f follows', async () => {
      const child = spawn(kubectl, ['--kubeconfig', through.file, 'logs', '-f', 'web']);
      let text = '';
      child.stdout.on('data', (part: Buffer) => (text += part.toString()));
      await through.ask('exec', 'web', '--', 'sh', '-c', 'echo line-of-the-test > /proc/1/fd/1');
      await expect.poll(() => text).toContain('line-of-the-test');
      child.kill();
    });

    it.each(['true', 'false'])('port-forward reaches a port of a pod (WebSocket: %s)', async (webSockets) => {
      const env = { ...process.env, KUBECTL_PORT_FORWARD_WEBSOCKETS: webSockets };
      const child = spawn(kubectl, ['--kubeconfig', through.file, 'port-forward', 'pod/web', ':8080'], {
        env,
      });
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const port = /127\.0\.0\.1:(\d+)/.exec(line.toString())?.[1];
      const answers = await Promise.all(
        [1, 2, 3].map(async () => (await fetch(`http://127.0.0.1:${port}/`)).text()),
      );
      child.kill();
      expect(answers).toEqual(['web\n', 'web\n', 'web\n']);
    });
  },
);
