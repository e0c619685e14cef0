import { MANAGED_LABEL, MANAGED_SERVICE_ACCOUNT } from '@berth/access/addon/managed-serviceaccount';
import { judgeToken, readToken } from '@berth/kube/account-token';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { MANAGED_CLUSTER_ADDON, SECRET, SERVICE_ACCOUNT } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition } from '@berth/kube/model/object-meta';
import { reviewToken } from '@berth/kube/review-token';
import { describe, expect, it } from 'vitest';
import { ADDON_NAMESPACE, withAccounts } from './account-world.ts';

const KEY = { namespace: 'cluster1', name: 'deployer' };
const IN_CLUSTER = { namespace: ADDON_NAMESPACE, name: 'deployer' };
const USER = `system:serviceaccount:${ADDON_NAMESPACE}:deployer`;

interface Status {
  readonly conditions: readonly Condition[];
  readonly expirationTimestamp: string;
  readonly tokenSecretRef: { readonly name: string; readonly lastRefreshTimestamp: string };
}

async function statusOf(hub: KubeApi, name = KEY.name): Promise<Partial<Status>> {
  const found = await hub.get(MANAGED_SERVICE_ACCOUNT, { ...KEY, name });
  return found?.['status'] ?? {};
}

async function reportOf(hub: KubeApi, name?: string): Promise<string | undefined> {
  const found = (await statusOf(hub, name)).conditions?.find(({ type }) => type === 'TokenReported');
  return found && `${found.status} ${found.reason}: ${found.message}`;
}

describe('a ManagedServiceAccount', () => {
  it('has an account in its cluster, whose token is in a Secret of the hub and nowhere else', async () => {
    await withAccounts(async ({ hub, cluster, make, secretOf, waitFor, kubeconfigs, logged }) => {
      await make('deployer');
      await waitFor(async () => (await reportOf(hub))?.startsWith('True'));
      const { token = '', 'ca.crt': ca, ...more } = (await secretOf('deployer')) ?? {};
      expect(more).toEqual({});
      const { caData = '' } =
        loadKubeConfig({ file: kubeconfigs.clusters.get('cluster1') ?? '' }).clusters[0] ?? {};
      expect(ca).toBe(Buffer.from(caData, 'base64').toString());
      expect((await reviewToken(cluster, token))?.username).toBe(USER);
      expect(await reviewToken(hub, token)).toBeUndefined();
      const { metadata } = (await hub.get(SECRET, KEY)) ?? {};
      const owner = await hub.get(MANAGED_SERVICE_ACCOUNT, KEY);
      expect(metadata?.labels).toEqual({ [MANAGED_LABEL]: 'true' });
      expect(metadata?.ownerReferences).toMatchObject([
        { kind: 'ManagedServiceAccount', name: 'deployer', uid: owner?.metadata.uid },
      ]);
      const { conditions = [], expirationTimestamp = '', tokenSecretRef } = await statusOf(hub);
      expect(conditions).toMatchObject([
        { type: 'SecretCreated', status: 'True', reason: 'SecretCreated' },
        { type: 'TokenReported', status: 'True', reason: 'TokenReported' },
      ]);
      const claims = readToken(token);
      expect(Date.parse(expirationTimestamp)).toBe(claims?.expiresAtMs);
      expect(tokenSecretRef?.name).toBe('deployer');
      expect(Date.parse(tokenSecretRef?.lastRefreshTimestamp ?? '')).toBe(claims?.issuedAtMs);
      await waitFor(async () =>
        JSON.stringify(
          await hub.get(MANAGED_CLUSTER_ADDON, { namespace: 'cluster1', name: 'managed-serviceaccount' }),
        ).includes('LeaseUpdated'),
      );
      expect(logged()).toContain('another token of a service account');
      for (const part of token.split('.')) expect(logged() + JSON.stringify(owner)).not.toContain(part);
    });
  });

  it('gets its Secret, its label and its owner again, and keeps what others wrote', async () => {
    await withAccounts(async ({ hub, make, secretOf, waitFor }) => {
      await make('deployer');
      const { token } = await waitFor(() => secretOf('deployer'));
      await hub.delete(SECRET, KEY);
      const again = await waitFor(() => secretOf('deployer'));
      expect(again['token']).not.toBe(token);
      const metadata = {
        annotations: { 'example.com/note': 'mine' },
        labels: { team: 'a', [MANAGED_LABEL]: null },
      };
      await hub.mergePatch(SECRET, KEY, { metadata });
      await waitFor(async () => (await hub.get(SECRET, KEY))?.metadata.labels?.[MANAGED_LABEL] === 'true');
      const kept = await hub.get(SECRET, KEY);
      expect(kept?.metadata.labels).toEqual({ team: 'a', [MANAGED_LABEL]: 'true' });
      expect(kept?.metadata.annotations).toEqual(metadata.annotations);
      expect((await secretOf('deployer'))?.['token']).toBe(again['token']);
    });
  });

  it('gets another token when the cluster refuses it, or it is that of somebody else', async () => {
    await withAccounts(async ({ hub, cluster, make, secretOf, waitFor }) => {
      await make('deployer');
      const first = await waitFor(() => secretOf('deployer'));
      await cluster.delete(SERVICE_ACCOUNT, IN_CLUSTER);
      const second = await waitFor(async () => {
        const now = await secretOf('deployer');
        return now?.['token'] === first['token'] ? undefined : now;
      });
      expect((await reviewToken(cluster, second['token'] ?? ''))?.username).toBe(USER);
      await make('other');
      const other = await waitFor(() => secretOf('other'));
      const data = { token: Buffer.from(other['token'] ?? '').toString('base64') };
      await hub.mergePatch(SECRET, KEY, { data });
      const third = await waitFor(async () => {
        const now = await secretOf('deployer');
        return now?.['token'] === other['token'] ? undefined : now;
      });
      expect((await reviewToken(cluster, third['token'] ?? ''))?.username).toBe(USER);
      // Its claims are right, its signature is not.
      const [head, payload] = (third['token'] ?? '').split('.');
      const forged = `${head}.${payload}.${'A'.repeat(86)}`;
      const uid = (await cluster.get(SERVICE_ACCOUNT, IN_CLUSTER))?.metadata.uid ?? '';
      expect(judgeToken(forged, uid, Date.now()).kind).toBe('keep');
      await hub.mergePatch(SECRET, KEY, { data: { token: Buffer.from(forged).toString('base64') } });
      await waitFor(async () => (await secretOf('deployer'))?.['token'] !== forged);
    });
  });

  it('goes with its account and its Secret, and takes nothing of others', async () => {
    await withAccounts(async ({ hub, cluster, make, secretOf, waitFor }) => {
      const foreign = (name: string) => ({ namespace: ADDON_NAMESPACE, name });
      await cluster.create(SERVICE_ACCOUNT, {
        ...{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: foreign('cluster-proxy-agent') },
      });
      await hub.create(SECRET, {
        ...{ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'cluster1', name: 'mine' } },
        data: { password: 'eA==' },
      });
      await make('deployer');
      await make('cluster-proxy-agent');
      await make('mine');
      await waitFor(() => secretOf('deployer'));
      // An account of another program may do much more: nobody gets a token of it.
      await waitFor(async () => (await reportOf(hub, 'cluster-proxy-agent')) !== undefined);
      expect(await reportOf(hub, 'cluster-proxy-agent')).toMatch(
        /^False TokenReportFailed: ServiceAccount .*\/cluster-proxy-agent of the cluster: belongs to somebody else/,
      );
      expect(await secretOf('cluster-proxy-agent')).toBeUndefined();
      await waitFor(async () => (await reportOf(hub, 'mine')) !== undefined);
      expect(await reportOf(hub, 'mine')).toMatch(/Secret cluster1\/mine: belongs to somebody else/);
      expect(await secretOf('mine')).toEqual({ password: 'x' });
      for (const name of ['deployer', 'cluster-proxy-agent', 'mine'])
        await hub.delete(MANAGED_SERVICE_ACCOUNT, { namespace: 'cluster1', name });
      await waitFor(async () => (await cluster.get(SERVICE_ACCOUNT, IN_CLUSTER)) === undefined);
      await waitFor(async () => (await secretOf('deployer')) === undefined);
      await waitFor(async () => (await cluster.get(SERVICE_ACCOUNT, foreign('mine'))) === undefined);
      expect(await cluster.get(SERVICE_ACCOUNT, foreign('cluster-proxy-agent'))).toBeDefined();
      expect(await secretOf('mine')).toEqual({ password: 'x' });
    });
  });

  it('says what is wrong with its lifetime, goes on when that is correct, and ends by itself', async () => {
    await withAccounts(async ({ hub, make, secretOf, waitFor }) => {
      await make('deployer', { rotation: { validity: 'a year' } });
      await waitFor(async () => (await reportOf(hub)) !== undefined);
      expect(await reportOf(hub)).toContain('rotation.validity is "a year", expected a duration');
      const patch = (validity: string) =>
        hub.mergePatch(MANAGED_SERVICE_ACCOUNT, KEY, { spec: { rotation: { validity } } });
      await patch('1m');
      await waitFor(async () => /less than 10 minutes/.test((await reportOf(hub)) ?? ''));
      await patch('2h');
      const { token = '' } = await waitFor(() => secretOf('deployer'));
      const { issuedAtMs = 0, expiresAtMs = 0 } = readToken(token) ?? {};
      expect(expiresAtMs - issuedAtMs).toBe(7_200_000);
      await hub.mergePatch(MANAGED_SERVICE_ACCOUNT, KEY, { spec: { ttlSecondsAfterCreation: 1 } });
      await waitFor(async () => (await secretOf('deployer')) === undefined);
      expect(await hub.get(MANAGED_SERVICE_ACCOUNT, KEY)).toBeUndefined();
    });
  });
});
