import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HubProcess } from '../e2e/hub-process.ts';
import { startHubProcess } from '../e2e/hub-process.ts';
import { BerthProcess } from '../e2e/berth-process.ts';
import type { ApiClient } from './peers/api-client.ts';
import { apiClient } from './peers/api-client.ts';
import { hasPeers, PEERS_DIR } from './peers/peer-programs.ts';

const SHOP = '/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/shop';
const DATA = '/api/v1/namespaces/shop/configmaps/words';
const PODS = '/apis/apps/v1/namespaces/shop/deployments/web';
const PORTS = '/api/v1/namespaces/shop/services/web';

const labels = { app: 'web' };
const container = { name: 'web', image: 'web:1', ports: [{ containerPort: 80 }] };
const MANIFESTS = {
  'words.json': {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'words' },
    data: { greeting: 'hello' },
  },
  'web.json': {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  },
  'ports.json': {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: labels, ports: [{ port: 80, targetPort: 80 }] },
  },
};

describe.skipIf(!hasPeers('argocd', 'redis-server', 'kubectl'))(
  'Argo CD’s programs on the embedded hub, which berth argocd run starts',
  () => {
    let directory: string;
    let repository: string;
    let hub: HubProcess;
    let member: ApiClient;
    let argo: BerthProcess;

    const git = (...args: string[]): void => {
      const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
      execFileSync('git', ['-C', repository, ...author, ...args], { stdio: 'ignore' });
    };
    const refresh = (): Promise<unknown> => {
      const annotations = { 'argocd.argoproj.io/refresh': 'hard' };
      return hub.call('PATCH', SHOP, { metadata: { annotations } }, 'application/merge-patch+json');
    };
    const isSynced = async (): Promise<unknown> => {
      const { status, operation } = (await hub.call('GET', SHOP)).body;
      return {
        sync: status?.sync?.status,
        health: status?.health?.status,
        revision: status?.sync?.revision,
        running: operation !== undefined,
        conditions: status?.conditions,
      };
    };
    const synced = async (): Promise<void> => {
      const revision = execFileSync('git', ['-C', repository, 'rev-parse', 'HEAD'], { encoding: 'utf8' });
      await expect.poll(isSynced).toEqual({
        sync: 'Synced',
        health: 'Healthy',
        revision: revision.trim(),
        running: false,
        conditions: undefined,
      });
    };

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'berth-argocd-'));
      repository = join(directory, 'repository');
      mkdirSync(repository);
      execFileSync('git', ['init', '-q', '-b', 'main', repository]);
      for (const [file, manifest] of Object.entries(MANIFESTS))
        writeFileSync(join(repository, file), JSON.stringify(manifest));
      git('add', '-A');
      git('commit', '-m', 'first');
      hub = await startHubProcess(join(directory, 'data'), ['--members', 'east']);
      const kubeconfig = readFileSync(join(directory, 'data', 'admin-east.kubeconfig'), 'utf8');
      const token = /token: (\S+)/.exec(kubeconfig)?.[1] ?? '';
      const authority = /certificate-authority-data: (\S+)/.exec(kubeconfig)?.[1] ?? '';
      const url = `${hub.url}/clusters/east`;
      member = apiClient({ url, token, caPem: Buffer.from(authority, 'base64').toString() });
      const data = join(directory, 'argocd');
      const flags = ['--kubeconfig', hub.kubeconfig, '--programs', PEERS_DIR, '--data', data];
      argo = new BerthProcess(['argocd', 'run', ...flags]);
    });
    afterAll(async () => {
      await argo?.stop();
      member?.close();
      await hub?.end('SIGTERM');
      rmSync(directory, { recursive: true, force: true });
    });

    it('starts, and knows the member', async () => {
      await expect.poll(() => argo.text).toContain('Argo CD runs, and knows east now');
      const { status, body } = await hub.call('POST', dirname(SHOP), shopFrom(repository));
      expect(status, JSON.stringify(body)).toBe(201);
    });

    it('syncs a ConfigMap, a Deployment and a Service to a member', async () => {
      await refreshUntilSynced();
      expect((await member.call('GET', DATA)).body.data).toEqual({ greeting: 'hello' });
      expect((await member.call('GET', PODS)).body.status).toMatchObject({ readyReplicas: 2 });
      expect((await member.call('GET', PORTS)).status).toBe(200);
    });

    it('heals what somebody changed or deleted there', async () => {
      const drift = { data: { greeting: 'bye' } };
      await member.call('PATCH', DATA, JSON.stringify(drift), 'application/merge-patch+json');
      await member.call('DELETE', PODS);
      await expect.poll(async () => (await member.call('GET', DATA)).body.data?.greeting).toBe('hello');
      await expect.poll(async () => (await member.call('GET', PODS)).status).toBe(200);
    });

    it('prunes what left Git', async () => {
      git('rm', 'ports.json');
      git('commit', '-m', 'second');
      await refresh();
      await synced();
      expect((await member.call('GET', PORTS)).status).toBe(404);
      expect((await member.call('GET', PODS)).status).toBe(200);
    });

    it('shows it to kubectl, and ends all programs when it is asked to', async () => {
      const shown = ['-n', 'argocd', 'get', 'applications', '--kubeconfig', hub.kubeconfig];
      expect(execFileSync('kubectl', shown, { encoding: 'utf8' })).toMatch(/^shop +Synced +Healthy$/m);
      const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(argo.child.pid)], {
        encoding: 'utf8',
      });
      const pids = children.trim().split('\n').map(Number);
      expect(pids).toHaveLength(4);
      expect(await argo.stop()).toEqual({ code: 0, signal: null });
      for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    });

    /** The controller may ask the repository server before that listens, and then waits for the next look at Git. */
    async function refreshUntilSynced(): Promise<void> {
      await expect
        .poll(async () => {
          const found = (await isSynced()) as { readonly sync?: string };
          if (found.sync === 'Unknown') await refresh();
          return found.sync;
        })
        .toBe('Synced');
      await synced();
    }
  },
);

/** An Application that syncs itself to the member. */
function shopFrom(repository: string): object {
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: 'shop', namespace: 'argocd' },
    spec: {
      project: 'default',
      source: { repoURL: `file://${repository}`, path: '.', targetRevision: 'main' },
      destination: { name: 'east', namespace: 'shop' },
      syncPolicy: { automated: { prune: true, selfHeal: true }, syncOptions: ['CreateNamespace=true'] },
    },
  };
}
