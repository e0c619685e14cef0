import {
  MANAGED_SERVICE_ACCOUNT,
  type ManagedServiceAccount,
} from '@berth/access/addon/managed-serviceaccount';
import { withHub } from '@berth/addon/testing';
import { SECRET, SERVICE_ACCOUNT } from '@berth/kube/model/kinds';
import { SILENT_LOG } from '@berth/runtime/logger';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { expect, it } from 'vitest';
import { AccountKeeper } from '../src/agent/account-keeper.ts';
import { managedAccount } from './account-world.ts';

const KEY = { namespace: 'cluster1', name: 'deployer' };
const HOUR_MS = 3_600_000;

it('a token is replaced after four fifths of its lifetime, and nothing is written before', async () => {
  await withHub(async ({ hub, cluster }) => {
    const clock = new FakeClock(Math.floor(Date.now() / 1_000) * 1_000);
    let ca = 'one';
    const place = { hub, cluster, clusterName: 'cluster1', namespace: 'default', clock, log: SILENT_LOG };
    const keeper = new AccountKeeper({ ...place, authority: async () => ca });
    await hub.create(MANAGED_SERVICE_ACCOUNT, managedAccount('deployer', { rotation: { validity: '10h' } }));
    const keep = async () => {
      const account = (await hub.get(MANAGED_SERVICE_ACCOUNT, KEY)) as ManagedServiceAccount | undefined;
      const outcome = await keeper.keep('deployer', account);
      const [secret, after] = [await hub.get(SECRET, KEY), await hub.get(MANAGED_SERVICE_ACCOUNT, KEY)];
      const { token, 'ca.crt': authority } = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>;
      const written = [secret, after].map((one) => one?.metadata.resourceVersion);
      return { outcome, token, authority, written };
    };
    const first = await keep();
    expect(first.outcome).toEqual({ kind: 'requeue', afterMs: 600_000 });
    expect(await keep()).toEqual(first);
    await clock.advance(7.9 * HOUR_MS);
    const { outcome, ...kept } = await keep();
    // A second may have begun before the token was issued.
    const { afterMs } = outcome as { readonly afterMs: number };
    expect(Math.abs(afterMs - 0.1 * HOUR_MS)).toBeLessThan(60_000);
    expect(kept).toEqual({ token: first.token, authority: first.authority, written: first.written });
    ca = 'two';
    const other = await keep();
    expect([other.token, other.authority]).toEqual([first.token, Buffer.from('two').toString('base64')]);
    await clock.advance(0.2 * HOUR_MS);
    const renewed = await keep().catch((error: unknown) => error);
    // The clock of the cluster stands at the first hour, so its token is old for this one; it was asked for all the same.
    expect(String(renewed)).toContain('a token that cannot be used: renewal');
    const { token } = ((await hub.get(SECRET, KEY))?.['data'] ?? {}) as { readonly token?: string };
    expect(token).not.toBe(first.token);
    await hub.delete(MANAGED_SERVICE_ACCOUNT, KEY);
    await keeper.keep('deployer', undefined);
    expect(await cluster.get(SERVICE_ACCOUNT, { namespace: 'default', name: 'deployer' })).toBeUndefined();
  });
});

it('an account is not deleted because the hub does not know the kind', async () => {
  await withHub(
    async ({ hub, cluster }) => {
      const labels = { 'authentication.open-cluster-management.io/is-managed-serviceaccount': 'true' };
      const metadata = { namespace: 'default', name: 'deployer', labels };
      await cluster.create(SERVICE_ACCOUNT, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
      const keeper = new AccountKeeper({
        ...{ hub, cluster, clusterName: 'cluster1', namespace: 'default' },
        ...{ clock: new FakeClock(Date.now()), log: SILENT_LOG, authority: async () => 'ca' },
      });
      await expect(keeper.keep('deployer', undefined)).rejects.toThrow();
      expect(await cluster.get(SERVICE_ACCOUNT, metadata)).toBeDefined();
    },
    { ocm: false },
  );
});
