import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import type { HubSyncOptions } from '../../../../src/controllers/sources/following/hub-sync-options.ts';
import { SourceDeclarations } from '../../../../src/controllers/sources/progress/source-declarations.ts';
import {
  CONFIG_MAP,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  NAMESPACE,
  PLACEMENT,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { planWithdrawal } from '../../../../src/core/sync/applied/plan-withdrawal.ts';
import { hubSyncFor } from './hub-sync-fixture.ts';
import { interceptedApi } from './intercepted-api.ts';

const CLUSTER_API = 'cluster.open-cluster-management.io';
const DRAIN = { key: 'maintenance', effect: 'NoSelect' };
const OF_HUB = { key: `${CLUSTER_API}/unreachable`, effect: 'NoSelect' };
const JOINED = { type: 'ManagedClusterJoined', status: 'True', reason: 'ManagedClusterJoined', message: '' };
const AVAILABLE = 'ManagedClusterConditionAvailable';

/**
 * Objects that leave Git and are more than Git's, on a hub with the kinds of OCM: the same on the embedded one and on
 * kube-apiserver.
 * @param hub read in each test
 */
export function objectsThatStay(hub: () => KubeApi): void {
  let turn = 0;
  let name: string;
  let writes: string[];
  beforeEach(() => {
    turn += 1;
    name = `stay-${String(turn)}`;
    writes = [];
  });

  const syncOf = (more: Partial<HubSyncOptions> = {}) =>
    hubSyncFor({
      api: interceptedApi(hub(), (method, args) => {
        if (['apply', 'create', 'update', 'mergePatch', 'delete'].includes(method))
          writes.push(`${method} ${(args[1] as KubeObject).metadata?.name ?? ''}`);
      }),
      source: name,
      declarations: new SourceDeclarations(systemClock, [{ name, force: false }]),
      ...more,
    });
  const inGit = (...objects: KubeObject[]) => ({
    complete: true,
    objects: [other(), ...objects].map((object) => ({
      object,
      location: { file: 'a.yaml', line: 1, column: 1 },
    })),
  });
  /** Something that stays in Git, so that the source never becomes empty. */
  const other = (): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${name}-other`, namespace: 'default' },
  });
  const keyOf = (kind: KindInfo) => ({ namespace: kind.namespaced ? 'default' : '', name });
  const read = (kind: KindInfo) => hub().get(kind, keyOf(kind));
  const cluster = (metadata: object, spec?: object): KubeObject => ({
    apiVersion: `${CLUSTER_API}/v1`,
    kind: 'ManagedCluster',
    metadata: { name, ...metadata },
    ...(spec && { spec }),
  });
  const write = (kind: KindInfo, object: KubeObject, fieldManager = 'kubectl-create') =>
    hub().create(kind, object, { fieldManager });
  const report = (...conditions: object[]) =>
    hub().mergePatch(
      MANAGED_CLUSTER,
      keyOf(MANAGED_CLUSTER),
      {
        status: {
          conditions: conditions.map((one) => ({ lastTransitionTime: '2026-01-01T00:00:00Z', ...one })),
        },
      },
      { subresource: 'status', fieldManager: 'registration-agent' },
    );
  const available = (status: string) => ({
    type: AVAILABLE,
    status,
    reason: 'ManagedClusterAvailable',
    message: '',
  });
  const marks = (object: KubeObject | undefined) =>
    [
      ...Object.keys(object?.metadata.labels ?? {}),
      ...Object.keys(object?.metadata.annotations ?? {}),
    ].filter((key) => key.startsWith('berth.dev/') || key.startsWith('applyset'));
  /** What is planned for the object is what the hub makes of it. */
  const expectPlanned = async (kind: KindInfo, leave: () => Promise<unknown>) => {
    const live = (await read(kind)) as KubeObject;
    const { after } = planWithdrawal(live);
    const result = await leave();
    const now = (await read(kind)) as KubeObject;
    const shown = ({ metadata: { labels = {}, annotations = {} }, spec = {}, data = {} }: KubeObject) => ({
      ...{ labels, annotations, spec, data },
    });
    expect(shown(after)).toEqual(shown(now));
    return result;
  };

  it('a drain by commit and its revert leave a registered cluster as it was', async () => {
    const before = await write(
      MANAGED_CLUSTER,
      cluster({ labels: { tier: 'a' } }, { hubAcceptsClient: true }),
    );
    await report(JOINED, available('True'));
    const sync = syncOf();
    const git = cluster({ labels: { env: 'prod' } }, { taints: [DRAIN] });
    expect(await sync.sync(inGit(git))).toMatchObject({ applied: 2, problems: [] });
    expect(await read(MANAGED_CLUSTER)).toMatchObject({
      metadata: { labels: { tier: 'a', env: 'prod' } },
      spec: { hubAcceptsClient: true, taints: [DRAIN] },
    });
    const outcome = await expectPlanned(MANAGED_CLUSTER, () => sync.sync(inGit()));
    expect(outcome).toMatchObject({ pruned: 0, problems: [], pruneHeld: undefined });
    const after = await read(MANAGED_CLUSTER);
    expect(after?.metadata.uid).toBe(before.metadata.uid);
    expect(after?.metadata.labels).toEqual(before.metadata.labels);
    expect(after?.['spec']).toEqual(before['spec']);
    expect(marks(after)).toEqual([]);
    // It is no member any more, also for a process that starts later.
    writes = [];
    expect(await syncOf().sync(inGit())).toMatchObject({ pruned: 0, problems: [] });
    expect(writes).toEqual([]);
  });

  it('a cluster that Git registered and that works stays accepted, with the taints of others', async () => {
    const sync = syncOf();
    await sync.sync(inGit(cluster({ labels: { env: 'prod' } }, { hubAcceptsClient: true, taints: [DRAIN] })));
    await report(JOINED, available('True'));
    const taints = ((await read(MANAGED_CLUSTER))?.['spec'] as { taints: object[] }).taints;
    await hub().mergePatch(
      MANAGED_CLUSTER,
      keyOf(MANAGED_CLUSTER),
      { spec: { taints: [...taints, OF_HUB] } },
      { fieldManager: 'registration' },
    );
    await expectPlanned(MANAGED_CLUSTER, () => sync.sync(inGit()));
    const left = await read(MANAGED_CLUSTER);
    expect(left).toMatchObject({ spec: { hubAcceptsClient: true, taints: [OF_HUB] } });
    expect(left?.metadata.labels?.['env']).toBeUndefined();
    expect(marks(left)).toEqual([]);
    // Git may declare it again, with other values, and remove it once more.
    await sync.sync(
      inGit(cluster({}, { hubAcceptsClient: true, leaseDurationSeconds: 30, taints: [DRAIN] })),
    );
    expect(await read(MANAGED_CLUSTER)).toMatchObject({
      spec: { hubAcceptsClient: true, leaseDurationSeconds: 30, taints: [OF_HUB, DRAIN] },
    });
    await expectPlanned(MANAGED_CLUSTER, () => sync.sync(inGit()));
    expect(await read(MANAGED_CLUSTER)).toMatchObject({
      spec: { hubAcceptsClient: true, leaseDurationSeconds: 30, taints: [OF_HUB] },
    });
  });

  it.each([
    { what: 'that never joined', conditions: [] },
    { what: 'whose agent is silent', conditions: [JOINED, available('Unknown')] },
  ])('a cluster that Git registered, $what, is deleted', async ({ conditions }) => {
    const sync = syncOf();
    await sync.sync(inGit(cluster({}, { hubAcceptsClient: true })));
    if (conditions.length > 0) await report(...conditions);
    expect(await sync.sync(inGit())).toMatchObject({ pruned: 1, problems: [] });
    expect((await read(MANAGED_CLUSTER))?.metadata.deletionTimestamp ?? 'gone').toBeDefined();
  });

  it('a cluster that works is deleted after the word for it', async () => {
    const sync = syncOf();
    await write(MANAGED_CLUSTER, cluster({}, { hubAcceptsClient: true }));
    await report(JOINED, available('True'));
    await sync.sync(inGit(cluster({ annotations: { 'berth.dev/prune': 'enabled' } })));
    expect(await sync.sync(inGit())).toMatchObject({ pruned: 1, problems: [] });
  });

  describe('of every kind', () => {
    const at = (kind: KindInfo) => ({ name, ...(kind.namespaced && { namespace: 'default' }) });
    const placement = (spec: object) => ({ apiVersion: `${CLUSTER_API}/v1beta1`, kind: 'Placement', spec });
    const manifests = (...names: string[]) => ({
      workload: {
        manifests: names.map((one) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: one, namespace: 'default' },
        })),
      },
    });
    it.each([
      {
        kind: PLACEMENT,
        made: placement({ clusterSets: ['a'] }),
        declared: placement({ clusterSets: ['a'], numberOfClusters: 1 }),
      },
      {
        kind: PLACEMENT,
        made: placement({ clusterSets: ['a'], numberOfClusters: 2 }),
        declared: placement({ clusterSets: ['a'], numberOfClusters: 1 }),
      },
      { kind: PLACEMENT, made: placement({}), declared: placement({ numberOfClusters: 1 }) },
      {
        kind: MANAGED_CLUSTER_SET,
        made: { apiVersion: `${CLUSTER_API}/v1beta2`, kind: 'ManagedClusterSet' },
        declared: { apiVersion: `${CLUSTER_API}/v1beta2`, kind: 'ManagedClusterSet' },
      },
      {
        kind: MANAGED_CLUSTER_SET_BINDING,
        made: { apiVersion: `${CLUSTER_API}/v1beta2`, kind: 'ManagedClusterSetBinding', spec: {} },
        declared: { apiVersion: `${CLUSTER_API}/v1beta2`, kind: 'ManagedClusterSetBinding', spec: {} },
      },
      {
        kind: CONFIG_MAP,
        made: { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } },
        declared: { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1', b: '2' } },
      },
      {
        kind: NAMESPACE,
        made: { apiVersion: 'v1', kind: 'Namespace' },
        declared: { apiVersion: 'v1', kind: 'Namespace' },
      },
      {
        kind: MANIFEST_WORK,
        made: {
          apiVersion: 'work.open-cluster-management.io/v1',
          kind: 'ManifestWork',
          spec: manifests('x'),
        },
        declared: {
          apiVersion: 'work.open-cluster-management.io/v1',
          kind: 'ManifestWork',
          spec: manifests('x'),
        },
      },
    ])(
      'an object that was there before goes back to what it was: $kind.kind $declared.spec',
      async (given) => {
        const { kind } = given;
        const complete = (object: object, labels?: object): KubeObject => {
          const spec = (object as { readonly spec?: object }).spec;
          const bound = kind === MANAGED_CLUSTER_SET_BINDING ? { spec: { ...spec, clusterSet: name } } : {};
          return { ...object, ...bound, metadata: { ...at(kind), ...(labels && { labels }) } } as KubeObject;
        };
        const before = await write(kind, complete(given.made, { owner: 'team-a' }));
        const sync = syncOf();
        expect(await sync.sync(inGit(complete(given.declared, { 'from-git': 'yes' })))).toMatchObject({
          applied: 2,
        });
        expect((await read(kind))?.metadata.labels).toMatchObject({ owner: 'team-a', 'from-git': 'yes' });
        const outcome = await expectPlanned(kind, () => sync.sync(inGit()));
        expect(outcome).toMatchObject({ pruned: 0, problems: [] });
        const after = await read(kind);
        expect(after?.metadata).toMatchObject({ uid: before.metadata.uid, labels: before.metadata.labels });
        expect([after?.['spec'], after?.['data']]).toEqual([before['spec'], before['data']]);
        expect(marks(after)).toEqual([]);
      },
    );

    it('a work of which Git took the manifests from others keeps them', async () => {
      const work = (...names: string[]): KubeObject => ({
        apiVersion: 'work.open-cluster-management.io/v1',
        kind: 'ManifestWork',
        metadata: at(MANIFEST_WORK),
        spec: manifests(...names),
      });
      await write(MANIFEST_WORK, work('x'));
      const sync = syncOf({ takeFields: true });
      expect(await sync.sync(inGit(work('x', 'y')))).toMatchObject({ applied: 2, problems: [] });
      await expectPlanned(MANIFEST_WORK, () => sync.sync(inGit()));
      expect((await read(MANIFEST_WORK))?.['spec']).toMatchObject(manifests('x', 'y'));
    });

    it('what Git made is deleted, and a Namespace is kept', async () => {
      const sync = syncOf();
      const made = [
        { ...placement({}), metadata: at(PLACEMENT) },
        { apiVersion: 'v1', kind: 'Namespace', metadata: at(NAMESPACE) },
      ];
      await sync.sync(inGit(...made));
      // Others change it afterwards.
      await hub().mergePatch(
        PLACEMENT,
        keyOf(PLACEMENT),
        { spec: { numberOfClusters: 3 } },
        { fieldManager: 'kubectl-edit' },
      );
      expect(await sync.sync(inGit())).toMatchObject({ pruned: 1, problems: [] });
      expect(await read(PLACEMENT)).toBeUndefined();
      expect(marks(await read(NAMESPACE))).not.toEqual([]);
    });
  });

  it('waits with what stays while the source would become empty', async () => {
    await write(MANAGED_CLUSTER, cluster({}, { hubAcceptsClient: true }));
    const sync = syncOf();
    const git = { ...inGit(), objects: inGit(cluster({ labels: { env: 'prod' } })).objects.slice(1) };
    await sync.sync(git);
    const { pruneHeld } = await sync.sync({ ...git, objects: [] });
    expect(pruneHeld?.message).toContain(`this is not changed: ManagedCluster ${name}`);
    expect((await read(MANAGED_CLUSTER))?.metadata.labels).toMatchObject({ env: 'prod' });
  });

  it('an object that is gone meanwhile is not made again', async () => {
    await write(MANAGED_CLUSTER, cluster({}, { hubAcceptsClient: true }));
    const apply: KubeApi['apply'] = async (kind, object, options) => {
      if (object.metadata.uid !== undefined) await hub().delete(kind, keyOf(kind));
      return hub().apply(kind, object, options);
    };
    const api = new Proxy(
      interceptedApi(hub(), () => undefined),
      {
        get: (target, key) => (key === 'apply' ? apply : (Reflect.get(target, key) as unknown)),
      },
    );
    const sync = syncOf({ api });
    await sync.sync(inGit(cluster({ labels: { env: 'prod' } })));
    expect(await sync.sync(inGit())).toMatchObject({ problems: [] });
    expect(await read(MANAGED_CLUSTER)).toBeUndefined();
  });
}
