import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubeLeaseStore } from '@berth/kube/kube-lease-store';
import { ConflictError } from '@berth/runtime/errors';
import { LEASE, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { LeaseStore } from '@berth/kube/leader-election/lease';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { MemoryLeaseStore } from '../../../packages/kube/test/leader-election/memory-lease-store.ts';

const KEY = { namespace: 'berth-system', name: 'berth-fleet' };
const lease = {
  holder: 'host_1',
  durationMs: 15_000,
  transitions: 0,
  acquiredAtMs: Date.parse('2026-01-02T03:04:05.678Z'),
  renewedAtMs: Date.parse('2026-01-02T03:04:06Z'),
};

/** What the election relies on, of the store of its own tests as well as of the one on a hub. */
function contract(name: string, start: () => Promise<{ store: LeaseStore; close: () => Promise<void> }>) {
  describe(`${name} as a lease store`, () => {
    let store: LeaseStore;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ store, close } = await start());
    });
    afterEach(() => close());

    it('has none before one is made', async () => {
      expect(await store.read()).toBeUndefined();
    });

    it('gives back what was written, with another version after every write', async () => {
      const made = await store.create(lease);
      expect(made).toMatchObject(lease);
      expect(await store.read()).toEqual(made);
      const next = await store.replace(made, { ...lease, holder: '', transitions: 7 });
      expect(next).toMatchObject({ ...lease, holder: '', transitions: 7 });
      expect(next.version).not.toBe(made.version);
      expect(await store.read()).toEqual(next);
      // Also after one that changes nothing but the time.
      const renewed = await store.replace(next, { ...next, renewedAtMs: next.renewedAtMs + 1_000 });
      expect(renewed.version).not.toBe(next.version);
    });

    it('refuses to make what is there, and to replace what was written since', async () => {
      const made = await store.create(lease);
      await expect(store.create({ ...lease, holder: 'host_2' })).rejects.toThrow(ConflictError);
      await store.replace(made, { ...lease, holder: 'host_2' });
      await expect(store.replace(made, lease)).rejects.toThrow(ConflictError);
      expect(await store.read()).toMatchObject({ holder: 'host_2' });
    });

    it('of writers that come together lets one through', async () => {
      const made = await store.create(lease);
      const tries = Array.from({ length: 8 }, (_, at) => store.replace(made, { ...lease, holder: `h${at}` }));
      const done = await Promise.allSettled(tries);
      expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });
  });
}

const hubStore = async () => {
  const hub = await startEmbeddedHub();
  return { store: new KubeLeaseStore(hub.api, KEY), close: hub.close };
};
contract('memory', async () => ({ store: new MemoryLeaseStore(), close: async () => undefined }));
contract('an embedded hub', hubStore);
contract('the fake hub', async () => ({
  store: new KubeLeaseStore(fakeHub(), KEY),
  close: async () => undefined,
}));

function fakeHub(): KubeApi {
  const api = new FakeKubeApi();
  api.addKind(LEASE);
  return api;
}

describe('KubeLeaseStore', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  let store: KubeLeaseStore;
  beforeEach(async () => {
    hub = await startEmbeddedHub();
    store = new KubeLeaseStore(hub.api, KEY);
  });
  afterEach(() => hub.close());

  it('writes a Lease as client-go does, in a namespace that it makes where it is missing', async () => {
    expect(await hub.api.get(NAMESPACE, { namespace: '', name: KEY.namespace })).toBeUndefined();
    await store.create(lease);
    expect((await hub.api.get(LEASE, KEY))?.['spec']).toEqual({
      holderIdentity: 'host_1',
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      acquireTime: '2026-01-02T03:04:05.678000Z',
      renewTime: '2026-01-02T03:04:06.000000Z',
    });
  });

  it('leaves alone what others put there', async () => {
    const made = await store.create(lease);
    await hub.api.mergePatch(LEASE, KEY, { metadata: { labels: { mine: 'yes' } } });
    await expect(store.replace(made, lease)).rejects.toThrow(ConflictError);
    await store.replace((await store.read())!, lease);
    expect((await hub.api.get(LEASE, KEY))?.metadata.labels).toEqual({ mine: 'yes' });
  });

  it('takes a deletion for a lost race', async () => {
    const made = await store.create(lease);
    await hub.api.delete(LEASE, KEY);
    await expect(store.replace(made, lease)).rejects.toThrow(ConflictError);
    expect(await store.read()).toBeUndefined();
    const again = await store.create(lease);
    await expect(store.replace(made, lease)).rejects.toThrow(ConflictError);
    expect(await store.read()).toEqual(again);
  });

  it('reads one that says nothing', async () => {
    await hub.api.create(NAMESPACE, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: KEY.namespace },
    });
    await hub.api.create(LEASE, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...KEY },
    });
    expect(await store.read()).toMatchObject({
      holder: '',
      durationMs: 0,
      transitions: 0,
      acquiredAtMs: 0,
      renewedAtMs: 0,
    });
  });
});
