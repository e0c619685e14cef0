import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { promisify } from 'node:util';
import { CONFIG_MAP, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import { findProgram } from '@berth/test-kit/needed-program';
import { describe, expect, it } from 'vitest';
import { accountToken, bind, withAccess } from './access-world.ts';

const kubectl = findProgram('kubectl');
const run = promisify(execFile);
const ALICE = { kind: 'User', name: 'cluster:hub:system:serviceaccount:default:alice' };

describe('a user of the hub', () => {
  it('reaches a cluster as itself, with the rights that the cluster gives', async () => {
    await withAccess(
      async ({ ask, hubToken, whenOpen, clusters, waitFor, hub }) => {
        const token = await hubToken('alice');
        await whenOpen('cluster1', token);
        const path = '/cluster1/api/v1/namespaces/default/configmaps';
        const refused = await ask(path, { token });
        expect(refused.status).toBe(403);
        expect(refused.text).toContain(
          'User \\"cluster:hub:system:serviceaccount:default:alice\\" cannot list',
        );
        const cluster = clusters.get('cluster1');
        if (cluster === undefined) throw new Error('no cluster1');
        await bind(cluster, 'view', ALICE);
        await waitFor(async () => (await ask(path, { token })).status === 200);
        const group = { kind: 'Group', name: 'cluster:hub:system:serviceaccounts:default' };
        await bind(cluster, 'edit', group);
        const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'by-alice' } });
        const headers = { 'content-type': 'application/json' };
        await waitFor(async () => (await ask(path, { token, method: 'POST', body, headers })).status === 201);
        expect(await cluster.get(CONFIG_MAP, { namespace: 'default', name: 'by-alice' })).toBeDefined();
        const { headers: answered } = await ask('/cluster1/version', { token });
        expect(Date.parse(String(answered['berth-tunnel-since']))).toBeGreaterThan(0);
        // Its agent shows that it lives, by its lease.
        const key = { namespace: 'cluster1', name: 'cluster-proxy' };
        await waitFor(async () =>
          JSON.stringify(await hub.get(MANAGED_CLUSTER_ADDON, key)).includes('LeaseUpdated'),
        );
      },
      ['cluster1'],
    );
  });

  it('is no other in the cluster because of its name or groups on the hub', async () => {
    await withAccess(
      async ({ ask, hubToken, whenOpen, clusters, cluster }) => {
        const token = await hubToken('alice');
        await whenOpen('cluster1', token);
        // The account of the same name in the cluster has all rights; that of the hub gets none of them.
        await accountToken(cluster, 'alice');
        const account = { apiGroup: '', kind: 'ServiceAccount', namespace: 'default', name: 'alice' };
        await bind(clusters.get('cluster1') ?? cluster, 'cluster-admin', account);
        await bind(cluster, 'cluster-admin', { kind: 'Group', name: 'system:serviceaccounts:default' });
        expect((await ask('/cluster1/api/v1/secrets', { token })).status).toBe(403);
      },
      ['cluster1'],
    );
  });

  it.skipIf(kubectl === undefined)('uses kubectl to get, watch, create and patch', async () => {
    await withAccess(
      async (world) => {
        const { server, ca, hubToken, whenOpen, cluster, kubeconfigs } = world;
        const token = await hubToken('alice');
        await bind(cluster, 'edit', ALICE);
        await whenOpen('cluster1', token);
        const file = join(dirname(kubeconfigs.hub), 'alice.kubeconfig');
        const entry = {
          server: `${server.url}/cluster1`,
          'certificate-authority-data': Buffer.from(ca).toString('base64'),
        };
        const config = {
          ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
          clusters: [{ name: 'c', cluster: entry }],
          users: [{ name: 'u', user: { token } }],
          contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        };
        writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
        const ask = async (...args: string[]) =>
          (await run(kubectl ?? '', ['--kubeconfig', file, ...args])).stdout;
        expect(await ask('create', 'configmap', 'colours', '--from-literal=sky=blue')).toContain(
          'configmap/colours created',
        );
        expect(await ask('get', 'configmap', 'colours', '-o', 'jsonpath={.data.sky}')).toBe('blue');
        const watched = run(kubectl ?? '', [
          ...[
            '--kubeconfig',
            file,
            'wait',
            '--for=jsonpath={.data.sky}=red',
            'configmap/colours',
            '--timeout=20s',
          ],
        ]);
        await ask('patch', 'configmap', 'colours', '--type=merge', '-p', '{"data":{"sky":"red"}}');
        expect((await watched).stdout).toContain('condition met');
        await expect(ask('get', 'nodes')).rejects.toThrow('cannot list resource "nodes"');
      },
      ['cluster1'],
    );
  });
});

describe('other callers', () => {
  it('are judged by the cluster when their token is its own, with its own impersonation', async () => {
    await withAccess(
      async ({ ask, hubToken, whenOpen, clusters, waitFor }) => {
        await whenOpen('cluster1', await hubToken('alice'));
        await whenOpen('cluster2', await hubToken('alice'));
        const cluster = clusters.get('cluster1');
        if (cluster === undefined) throw new Error('no cluster1');
        const token = await accountToken(cluster, 'bob');
        const path = '/cluster1/api/v1/namespaces/default/configmaps';
        const forbidden = await ask(path, { token });
        expect(forbidden.status).toBe(403);
        expect(forbidden.text).toContain('system:serviceaccount:default:bob');
        await bind(cluster, 'view', {
          apiGroup: '',
          kind: 'ServiceAccount',
          namespace: 'default',
          name: 'bob',
        });
        await waitFor(async () => (await ask(path, { token })).status === 200);
        const headers = { 'impersonate-user': 'system:admin', 'impersonate-group': ['system:masters'] };
        const escalated = await ask('/cluster1/api/v1/secrets', { token, headers });
        expect(escalated.status).toBe(403);
        expect(escalated.text).toContain('cannot impersonate');
        // The token of one cluster is nobody in another one.
        expect((await ask('/cluster2/api/v1/namespaces/default/configmaps', { token })).status).toBe(401);
      },
      ['cluster1', 'cluster2'],
    );
  });

  it('are refused', async () => {
    await withAccess(
      async ({ ask, hubToken, whenOpen, hub, waitFor, cluster }) => {
        const token = await hubToken('alice');
        await bind(cluster, 'cluster-admin', ALICE);
        await whenOpen('cluster1', token);
        expect((await ask('/cluster1/version')).status).toBe(401);
        expect((await ask('/cluster1/api/v1/namespaces', { token: 'garbage' })).status).toBe(401);
        const basic = { authorization: 'Basic YWxpY2U6eA==' };
        expect((await ask('/cluster1/version', { headers: basic })).status).toBe(401);
        for (const name of [
          'impersonate-user',
          'Impersonate-Group',
          'impersonate-extra-scopes',
          'impersonate-uid',
        ]) {
          const { status, text } = await ask('/cluster1/version', {
            token,
            headers: { [name]: 'system:masters' },
          });
          expect([status, text]).toEqual([403, expect.stringContaining('cannot impersonate others')]);
        }
        const forged = {
          'berth-caller': 'cluster',
          'x-remote-user': 'system:admin',
          'x-remote-group': 'system:masters',
        };
        const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
        const asked = await ask('/cluster1/apis/authentication.k8s.io/v1/selfsubjectreviews', {
          ...{ token, method: 'POST', body: JSON.stringify(review) },
          headers: { ...forged, 'content-type': 'application/json' },
        });
        expect(asked.text).toContain(`"username":"${ALICE.name}"`);
        const unknown = await ask('/cluster9/version', { token });
        expect([unknown.status, unknown.text]).toEqual([
          404,
          expect.stringContaining('no cluster \\"cluster9\\"'),
        ]);
        expect((await ask('/cluster9/version', { token: 'garbage' })).status).toBe(401);
        await hub.delete(MANAGED_CLUSTER_ADDON, { namespace: 'cluster1', name: 'cluster-proxy' });
        await waitFor(async () => (await ask('/cluster1/version', { token })).status === 404);
      },
      ['cluster1'],
    );
  });
});
