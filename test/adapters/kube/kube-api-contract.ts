import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConflictError, InputError } from '@berth/runtime/errors';
import { MANAGED_CLUSTER, PLACEMENT } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, WatchEvent } from '@berth/kube/model/kube-api';
import { fieldConflicts } from '@berth/kube/transport/kube-errors';

export interface ContractSubject {
  readonly api: KubeApi;
  close(): Promise<void>;
}

const cluster = (name: string, over: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name, labels: { test: 'contract' } },
  spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 },
  ...over,
});

const key = (name: string, namespace = '') => ({ namespace, name });

/** What every KubeApi must do, whatever stands behind it. */
export function describeKubeApi(name: string, start: () => Promise<ContractSubject>): void {
  describe(`KubeApi: ${name}`, () => {
    let subject: ContractSubject;
    let api: KubeApi;
    beforeAll(async () => {
      subject = await start();
      api = subject.api;
    });
    afterAll(() => subject.close());

    it('creates, reads back, and refuses a second object of the name', async () => {
      const made = await api.create(MANAGED_CLUSTER, cluster('create-1'));
      expect(made.metadata.uid).toBeTruthy();
      expect(made.metadata.resourceVersion).toBeTruthy();
      expect(made.metadata.generation).toBe(1);
      const read = await api.get(MANAGED_CLUSTER, key('create-1'));
      expect(read?.metadata.uid).toBe(made.metadata.uid);
      await expect(api.create(MANAGED_CLUSTER, cluster('create-1'))).rejects.toMatchObject({
        name: 'ConflictError',
        code: 'kube.alreadyexists',
      });
    });

    it('answers undefined for a missing object, and an error for a write to one', async () => {
      expect(await api.get(MANAGED_CLUSTER, key('missing'))).toBeUndefined();
      await expect(
        api.mergePatch(MANAGED_CLUSTER, key('missing'), { metadata: { labels: { a: 'b' } } }),
      ).rejects.toMatchObject({ name: 'InputError', code: 'kube.notfound' });
      expect(await api.delete(MANAGED_CLUSTER, key('missing'))).toBe(false);
    });

    it('lists what matches the selectors', async () => {
      await api.create(
        MANAGED_CLUSTER,
        cluster('list-1', { metadata: { name: 'list-1', labels: { pick: 'x' } } }),
      );
      await api.create(
        MANAGED_CLUSTER,
        cluster('list-2', { metadata: { name: 'list-2', labels: { pick: 'y' } } }),
      );
      const byLabel = await api.list(MANAGED_CLUSTER, { labelSelector: 'pick=x' });
      expect(byLabel.items.map((item) => item.metadata.name)).toEqual(['list-1']);
      expect(byLabel.items[0]?.kind).toBe('ManagedCluster');
      const byName = await api.list(MANAGED_CLUSTER, { fieldSelector: 'metadata.name=list-2' });
      expect(byName.items.map((item) => item.metadata.name)).toEqual(['list-2']);
    });

    it('keeps status apart from the rest', async () => {
      const made = await api.create(
        MANAGED_CLUSTER,
        cluster('status-1', { status: { version: { kubernetes: 'v0' } } }),
      );
      expect(made['status'] ?? {}).not.toHaveProperty('version');
      const status = { conditions: [], version: { kubernetes: 'v1.30.0' } };
      const patched = await api.mergePatch(
        MANAGED_CLUSTER,
        key('status-1'),
        { status },
        { subresource: 'status' },
      );
      expect(patched['status']).toMatchObject({ version: { kubernetes: 'v1.30.0' } });
      expect(patched.metadata.generation).toBe(1);
      const relabelled = await api.mergePatch(MANAGED_CLUSTER, key('status-1'), {
        status: { version: { kubernetes: 'v2' } },
      });
      expect(relabelled['status']).toMatchObject({ version: { kubernetes: 'v1.30.0' } });
    });

    it('counts generations on spec changes only, and a change of nothing is no change', async () => {
      const made = await api.create(MANAGED_CLUSTER, cluster('generation-1'));
      const labelled = await api.mergePatch(MANAGED_CLUSTER, key('generation-1'), {
        metadata: { labels: { a: 'b' } },
      });
      expect(labelled.metadata.generation).toBe(1);
      expect(labelled.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);
      const spec = { spec: { leaseDurationSeconds: 30 } };
      const changed = await api.mergePatch(MANAGED_CLUSTER, key('generation-1'), spec);
      expect(changed.metadata.generation).toBe(2);
      const again = await api.mergePatch(MANAGED_CLUSTER, key('generation-1'), spec);
      expect(again.metadata.resourceVersion).toBe(changed.metadata.resourceVersion);
    });

    it('refuses writes over a newer version', async () => {
      const made = await api.create(MANAGED_CLUSTER, cluster('conflict-1'));
      const newer = await api.update(MANAGED_CLUSTER, {
        ...made,
        spec: { hubAcceptsClient: false, leaseDurationSeconds: 60 },
      });
      const stale = { ...made, spec: { hubAcceptsClient: true, leaseDurationSeconds: 10 } };
      await expect(api.update(MANAGED_CLUSTER, stale)).rejects.toThrow(ConflictError);
      const { uid, resourceVersion } = made.metadata;
      await expect(
        api.mergePatch(MANAGED_CLUSTER, key('conflict-1'), {
          metadata: { uid, resourceVersion, labels: { x: 'y' } },
        }),
      ).rejects.toMatchObject({ code: 'kube.conflict' });
      await expect(
        api.delete(MANAGED_CLUSTER, key('conflict-1'), { resourceVersion: made.metadata.resourceVersion }),
      ).rejects.toThrow(ConflictError);
      const { uid: newUid, resourceVersion: newVersion } = newer.metadata;
      expect(
        await api.delete(MANAGED_CLUSTER, key('conflict-1'), { uid: newUid, resourceVersion: newVersion }),
      ).toBe(true);
    });

    it('keeps an object that has finalizers until the last one is gone', async () => {
      const finalizers = ['berth.dev/test'];
      await api.create(MANAGED_CLUSTER, cluster('final-1', { metadata: { name: 'final-1', finalizers } }));
      expect(await api.delete(MANAGED_CLUSTER, key('final-1'))).toBe(true);
      const lingering = await api.get(MANAGED_CLUSTER, key('final-1'));
      expect(lingering?.metadata.deletionTimestamp).toBeTruthy();
      await api.mergePatch(MANAGED_CLUSTER, key('final-1'), { metadata: { finalizers: null } });
      expect(await api.get(MANAGED_CLUSTER, key('final-1'))).toBeUndefined();
    });

    it('applies on the server: creates, changes nothing twice, removes what it no longer sets', async () => {
      const options = { fieldManager: 'berth' };
      const first = await api.apply(MANAGED_CLUSTER, cluster('apply-1'), options);
      const second = await api.apply(MANAGED_CLUSTER, cluster('apply-1'), options);
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      const third = await api.apply(
        MANAGED_CLUSTER,
        cluster('apply-1', { metadata: { name: 'apply-1' } }),
        options,
      );
      expect(third.metadata.labels ?? {}).not.toHaveProperty('test');
    });

    it('reports whose field an apply would take, and takes it with force', async () => {
      await api.apply(MANAGED_CLUSTER, cluster('apply-2'), { fieldManager: 'somebody' });
      const wanted = cluster('apply-2', { metadata: { name: 'apply-2', labels: { test: 'mine' } } });
      const refused: unknown = await api
        .apply(MANAGED_CLUSTER, wanted, { fieldManager: 'berth' })
        .catch((e: unknown) => e);
      expect(refused).toBeInstanceOf(ConflictError);
      expect(fieldConflicts(refused)).toEqual([
        { field: '.metadata.labels.test', message: expect.stringContaining('somebody') },
      ]);
      const taken = await api.apply(MANAGED_CLUSTER, wanted, { fieldManager: 'berth', force: true });
      expect(taken.metadata.labels).toMatchObject({ test: 'mine' });
    });

    it('changes nothing in a dry run', async () => {
      await api.apply(MANAGED_CLUSTER, cluster('dry-1'), { fieldManager: 'berth', dryRun: true });
      expect(await api.get(MANAGED_CLUSTER, key('dry-1'))).toBeUndefined();
    });

    it('watches from a list on, without gap or repetition', async () => {
      const { resourceVersion } = await api.list(MANAGED_CLUSTER);
      const stop = new AbortController();
      const seen: string[] = [];
      const reading = (async () => {
        for await (const event of api.watch(MANAGED_CLUSTER, { resourceVersion, signal: stop.signal })) {
          if (event.type === 'bookmark') continue;
          seen.push(`${event.type} ${event.object.metadata.name}`);
          if (event.type === 'deleted') stop.abort();
        }
      })();
      await api.create(MANAGED_CLUSTER, cluster('watch-1'));
      await api.mergePatch(MANAGED_CLUSTER, key('watch-1'), { metadata: { labels: { a: 'b' } } });
      await api.delete(MANAGED_CLUSTER, key('watch-1'));
      await reading;
      expect(seen).toEqual(['added watch-1', 'modified watch-1', 'deleted watch-1']);
    });

    it('answers a write with metadata alone where that is enough', async () => {
      const created = await api.create(MANAGED_CLUSTER, cluster('brief-1'), { metadataOnly: true });
      expect(created).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'brief-1' } });
      expect(created).not.toHaveProperty('spec');
      const patch = { metadata: { labels: { a: 'b' } } };
      const answer = await api.mergePatch(MANAGED_CLUSTER, key('brief-1'), patch, { metadataOnly: true });
      const { metadata } = (await api.get(MANAGED_CLUSTER, key('brief-1'))) as KubeObject;
      expect(answer).toEqual({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata });
      expect(metadata.labels).toMatchObject({ a: 'b' });
    });

    it('tells on a watch what was written, also where its writer knows it', async () => {
      const written = cluster('told-1');
      await api.create(MANAGED_CLUSTER, written);
      const { resourceVersion } = await api.list(MANAGED_CLUSTER);
      const stop = new AbortController();
      const seen: KubeObject[] = [];
      const reading = (async () => {
        for await (const event of api.watch(MANAGED_CLUSTER, { resourceVersion, signal: stop.signal })) {
          if (event.type === 'bookmark') continue;
          seen.push(event.object);
          if (seen.length === 2) stop.abort();
        }
      })();
      const known = { metadataOnly: true } as const;
      await api.mergePatch(MANAGED_CLUSTER, key('told-1'), { metadata: { labels: { a: 'b' } } }, known);
      const status = { version: { kubernetes: 'v1.33.0' } };
      const options = { ...known, subresource: 'status' } as const;
      await api.mergePatch(MANAGED_CLUSTER, key('told-1'), { status }, options);
      await reading;
      expect(seen[1]).toEqual(await api.get(MANAGED_CLUSTER, key('told-1')));
      expect(seen[0]?.metadata.labels).toMatchObject({ a: 'b' });
    });

    it('tells when a watch was accepted, and ends it when asked', async () => {
      const { resourceVersion } = await api.list(PLACEMENT);
      const stop = new AbortController();
      const options = { resourceVersion, signal: stop.signal, onOpen: () => stop.abort() };
      const events: WatchEvent[] = [];
      for await (const event of api.watch(PLACEMENT, options)) events.push(event);
      expect(events.filter((event) => event.type !== 'bookmark')).toEqual([]);
    });

    it('finds kinds through discovery', async () => {
      expect(await api.resolve('cluster.open-cluster-management.io/v1', 'ManagedCluster')).toEqual(
        MANAGED_CLUSTER,
      );
      expect(await api.resolve('cluster.open-cluster-management.io/v1', 'Nonsense')).toBeUndefined();
      expect(await api.resolve('nobody.example/v1', 'Nonsense')).toBeUndefined();
    });

    it.each(['..', '.', '__proto__', 'a/b', 'x?y=z', '%2e%2e'])(
      'addresses nothing else for the hostile name %j',
      async (name) => {
        const result: unknown = await api.get(MANAGED_CLUSTER, key(name)).catch((error: unknown) => error);
        if (result !== undefined) expect(result).toBeInstanceOf(InputError);
      },
    );
  });
}
