import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SECRET, SELF_SUBJECT_REVIEW, SERVICE_ACCOUNT } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { requestToken } from '@berth/kube/request-token';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { describe, expect, it } from 'vitest';
import { hubClient } from '@berth/addon/agent';
import { type HubWorld, withHub } from '@berth/addon/testing';

const SETUP = { patienceMs: PATIENCE_MS };
const SECRET_KEY = { namespace: 'default', name: 'hello-hub-kubeconfig' };

/** The files of the Secret for an account of the hub. */
async function filesFor({ hub, kubeconfigs }: HubWorld, name: string): Promise<Record<string, string>> {
  const account = { namespace: 'default', name };
  if ((await hub.get(SERVICE_ACCOUNT, account)) === undefined)
    await hub.create(SERVICE_ACCOUNT, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  const token = await requestToken(hub, account, 3_600);
  const kubeconfig = readFileSync(kubeconfigs.hub, 'utf8').replace(/token: \S+/g, 'tokenFile: token');
  return { kubeconfig, token, 'cluster-name': 'cluster1\n' };
}

const encoded = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));

async function whoAmI(hub: KubeApi): Promise<string> {
  const review = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: { name: '' },
  };
  const { status } = await hub.create(SELF_SUBJECT_REVIEW, review);
  return (status as { readonly userInfo: { readonly username: string } }).userInfo.username;
}

// Together, because a client takes up new credentials after ten seconds.
describe.concurrent('the client of an add-on’s agent', () => {
  it('waits for the Secret, and goes on with its next content', async () => {
    await withHub(async (world) => {
      const { cluster, signal, waitFor } = world;
      const waiting = hubClient({ from: { cluster, ...SECRET_KEY }, signal });
      await cluster.create(SECRET, { apiVersion: 'v1', kind: 'Secret', metadata: SECRET_KEY, data: {} });
      await cluster.mergePatch(SECRET, SECRET_KEY, { data: encoded(await filesFor(world, 'first')) });
      const { hub, clusterName } = await waiting;
      expect(clusterName).toBe('cluster1');
      expect(await whoAmI(hub)).toBe('system:serviceaccount:default:first');
      await cluster.mergePatch(SECRET, SECRET_KEY, { data: encoded(await filesFor(world, 'second')) });
      await waitFor(async () => (await whoAmI(hub)) === 'system:serviceaccount:default:second');
      await cluster.delete(SECRET, SECRET_KEY);
      expect(await whoAmI(hub)).toBe('system:serviceaccount:default:second');
    }, SETUP);
  });

  it('reads the mounted files, and reads them again when they change', async ({ onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), 'hub-client-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await withHub(async (world) => {
      const waiting = hubClient({ from: { folder }, signal: world.signal });
      const write = async (name: string) => {
        for (const [file, text] of Object.entries(await filesFor(world, name)).reverse())
          writeFileSync(join(folder, file), text);
      };
      await write('first');
      const { hub, clusterName } = await waiting;
      expect(clusterName).toBe('cluster1');
      expect(await whoAmI(hub)).toBe('system:serviceaccount:default:first');
      await write('second');
      await world.waitFor(async () => (await whoAmI(hub)) === 'system:serviceaccount:default:second');
    }, SETUP);
  });

  it('waits no longer than its signal', async () => {
    await withHub(async ({ cluster }) => {
      const stop = new AbortController();
      const waiting = hubClient({ from: { cluster, ...SECRET_KEY }, signal: stop.signal });
      stop.abort(new Error('enough'));
      await expect(waiting).rejects.toThrow('enough');
    }, SETUP);
  });
});
