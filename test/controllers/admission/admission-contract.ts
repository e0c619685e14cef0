import { expect, it } from 'vitest';
import {
  apiVersionOf,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET_BINDING,
  NAMESPACE,
} from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';

/** A hub that asks Berth's webhooks, and nobody else, about clusters and bindings. */
export interface AdmissionWorld {
  readonly admin: KubeApi;
  /** The same hub as another user. */
  readonly as: (user: string) => KubeApi;
  /** Berth is gone; what the hub was made to ask stays. */
  stopBerth(): Promise<void>;
  /** Berth answers again. */
  startBerth(): Promise<void>;
}

const SET = 'cluster.open-cluster-management.io/clusterset';
const CLUSTER_GROUP = 'cluster.open-cluster-management.io';
const OLD = '2026-01-01T00:00:00Z';

/** Writes clusters and bindings, and may do nothing of what the webhooks ask about but join `red` and `default`. */
const ANN = 'ann';
/** May do all of it. */
const BOB = 'bob';
const WRITES = {
  apiGroups: [CLUSTER_GROUP],
  resources: ['managedclusters', 'managedclusters/status', 'managedclustersetbindings'],
  verbs: ['get', 'create', 'update', 'patch', 'delete'],
};
const rule = (group: string, resource: string, verb: string, names: readonly string[] = []) => ({
  apiGroups: [group],
  resources: [resource],
  verbs: [verb],
  ...(names.length > 0 && { resourceNames: names }),
});
const RULES = {
  [ANN]: [WRITES, rule(CLUSTER_GROUP, 'managedclustersets/join', 'create', ['red', 'default'])],
  [BOB]: [
    WRITES,
    rule(CLUSTER_GROUP, 'managedclustersets/join', 'create'),
    rule(CLUSTER_GROUP, 'managedclustersets/bind', 'create'),
    rule('register.open-cluster-management.io', 'managedclusters/accept', 'update'),
  ],
};

function make(api: KubeApi, kind: KindInfo, content: object, dryRun = false): Promise<KubeObject> {
  const typed = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...content };
  return api.create(kind, typed as unknown as KubeObject, { dryRun });
}

const cluster = (name: string, spec: object = {}, labels?: object) => ({
  metadata: { name, ...(labels !== undefined && { labels }) },
  spec: { hubAcceptsClient: false, leaseDurationSeconds: 60, ...spec },
});

/** The users, and their rights. */
export async function makeUsers({ admin }: AdmissionWorld): Promise<void> {
  for (const [user, rules] of Object.entries(RULES)) {
    await make(admin, CLUSTER_ROLE, { metadata: { name: user }, rules });
    await make(admin, CLUSTER_ROLE_BINDING, {
      metadata: { name: user },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    });
  }
}

/** The hub asks, and knows of the rights: it reads both in the background. For tests: it polls. */
export async function whenAsked({ as }: AdmissionWorld): Promise<void> {
  const accepted = cluster('probe', { hubAcceptsClient: true });
  await expect
    .poll(() => textOf(make(as(ANN), MANAGED_CLUSTER, accepted, true)))
    .toMatch(/admission webhook "rights.managedclusters.admission.berth.dev" denied the request: user "ann"/);
  await expect
    .poll(async () => {
      const made = make(as(BOB), MANAGED_CLUSTER, cluster('probe'), true);
      return made.then(
        ({ metadata }) => metadata.labels,
        () => undefined,
      );
    })
    .toEqual({ [SET]: 'default' });
  const binding = { metadata: { name: 'probe', namespace: 'default' }, spec: { clusterSet: 'probe' } };
  await expect.poll(() => textOf(make(as(BOB), MANAGED_CLUSTER_SET_BINDING, binding, true))).toBe('ok');
}

/** `ok`, or what the hub says. */
function textOf(write: Promise<unknown>): Promise<string> {
  return write.then(
    () => 'ok',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

/** The rules of OCM, one test each. `world` is shared: each test has clusters of its own. */
export function admissionContract(world: () => AdmissionWorld): void {
  const by = (user: string) => {
    const api = (): KubeApi => world().as(user);
    const at = (name: string) => ({ namespace: '', name });
    return {
      create: (...content: Parameters<typeof cluster>) =>
        textOf(make(api(), MANAGED_CLUSTER, cluster(...content))),
      patch: (name: string, patch: object) => textOf(api().mergePatch(MANAGED_CLUSTER, at(name), patch)),
      label: (name: string, set: string | null) =>
        textOf(api().mergePatch(MANAGED_CLUSTER, at(name), { metadata: { labels: { [SET]: set } } })),
      bind: (name: string, clusterSet: string) =>
        textOf(
          make(api(), MANAGED_CLUSTER_SET_BINDING, {
            metadata: { name, namespace: 'default' },
            spec: { clusterSet },
          }),
        ),
    };
  };
  const [ann, bob] = [by(ANN), by(BOB)];
  const read = async (name: string): Promise<ManagedCluster> =>
    (await world().admin.get(MANAGED_CLUSTER, { namespace: '', name })) as unknown as ManagedCluster;

  it('the hub asks', () => whenAsked(world()));

  it('a cluster without a set gets the default set', async () => {
    expect(await ann.create('default-1')).toBe('ok');
    expect(await ann.create('default-2', {}, { zone: 'a', [SET]: '' })).toBe('ok');
    expect((await read('default-1')).metadata.labels).toEqual({ [SET]: 'default' });
    expect((await read('default-2')).metadata.labels).toEqual({ zone: 'a', [SET]: 'default' });
    expect(await ann.label('default-2', null)).toBe('ok');
    expect((await read('default-2')).metadata.labels).toEqual({ zone: 'a', [SET]: 'default' });
  });

  it('the name is that of a namespace', async () => {
    expect(await bob.create('a.b')).toMatch(/must not contain dots/);
  });

  it('addresses are https', async () => {
    const spec = { managedClusterClientConfigs: [{ url: 'http://x' }] };
    expect(await bob.create('address-1', spec)).toMatch(/url "http:\/\/x" is invalid in client configs/);
    expect(await bob.create('address-1')).toBe('ok');
    expect(await bob.patch('address-1', { spec })).toMatch(/url "http:\/\/x" is invalid/);
    const good = { managedClusterClientConfigs: [{ url: 'https://x:6443' }] };
    expect(await ann.patch('address-1', { spec: good })).toBe('ok');
  });

  it('accepting needs the right, denying and all else do not', async () => {
    expect(await ann.create('accept-1', { hubAcceptsClient: true })).toMatch(
      /user "ann" cannot update the HubAcceptsClient field/,
    );
    expect(await ann.create('accept-1')).toBe('ok');
    expect(await ann.patch('accept-1', { spec: { hubAcceptsClient: true } })).toMatch(
      /user "ann" cannot update/,
    );
    expect(await bob.patch('accept-1', { spec: { hubAcceptsClient: true } })).toBe('ok');
    expect(await ann.patch('accept-1', { spec: { leaseDurationSeconds: 90 } })).toBe('ok');
    expect(await ann.patch('accept-1', { spec: { hubAcceptsClient: false } })).toBe('ok');
  });

  it('a cluster whose namespace is being deleted is not accepted', async () => {
    const { admin } = world();
    await make(admin, NAMESPACE, { metadata: { name: 'ending-1' } });
    await make(
      admin,
      { ...NAMESPACE, kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
      {
        metadata: { name: 'held', namespace: 'ending-1', finalizers: ['example.org/held'] },
      },
    );
    await admin.delete(NAMESPACE, { namespace: '', name: 'ending-1' });
    expect(await bob.create('ending-1', { hubAcceptsClient: true })).toMatch(
      /cluster namespace "ending-1" is terminating/,
    );
    expect(await bob.create('ending-1')).toBe('ok');
  });

  it('sets: joining needs a right to it, moving one to both, leaving one to the old set', async () => {
    expect(await ann.create('set-1', {}, { [SET]: 'blue' })).toMatch(
      /user "ann" cannot add\/remove a ManagedCluster to\/from ManagedClusterSet "blue"/,
    );
    expect(await ann.create('set-1', {}, { [SET]: 'red' })).toBe('ok');
    expect(await ann.label('set-1', 'blue')).toMatch(/ManagedClusterSet "blue"/);
    expect(await bob.label('set-1', 'blue')).toBe('ok');
    expect(await ann.label('set-1', 'red')).toMatch(/ManagedClusterSet "blue"/);
    expect(await ann.label('set-1', null)).toMatch(/ManagedClusterSet "blue"/);
    expect(await ann.patch('set-1', { metadata: { labels: { zone: 'a' } } })).toBe('ok');
  });

  it('the time of a taint is the time of the hub', async () => {
    const taint = { key: 'k', value: 'v', effect: 'NoSelect' };
    const timeOf = async (): Promise<string> => (await read('taint-1')).spec?.taints?.[0]?.timeAdded ?? '';
    expect(await ann.create('taint-1', { taints: [{ ...taint, timeAdded: OLD }] })).toBe('ok');
    const first = await timeOf();
    expect(Date.parse(first)).toBeGreaterThan(Date.parse(OLD));
    const patch = (...taints: object[]) => ann.patch('taint-1', { spec: { taints } });
    const refused = /It is not allowed to set TimeAdded of Taint "k"\./;
    expect(await patch(taint)).toMatch(refused);
    expect(await patch({ ...taint, timeAdded: OLD })).toMatch(refused);
    expect(await patch({ ...taint, timeAdded: first })).toBe('ok');
    expect(await timeOf()).toBe(first);
    expect(await patch({ ...taint, effect: 'PreferNoSelect', timeAdded: OLD })).toMatch(refused);
    expect(await patch({ ...taint, effect: 'PreferNoSelect' })).toBe('ok');
    expect(await timeOf()).not.toBe('');
    expect(await patch()).toBe('ok');
  });

  it('bindings: the name of the set, and the right to bind it', async () => {
    expect(await bob.bind('other', 'red')).toMatch(/must have the same name as the target/);
    expect(await ann.bind('red', 'red')).toMatch(/user "ann" is not allowed to bind cluster set "red"/);
    expect(await bob.bind('red', 'red')).toBe('ok');
    const key = { namespace: 'default', name: 'red' };
    const patch = (change: object) =>
      textOf(world().as(ANN).mergePatch(MANAGED_CLUSTER_SET_BINDING, key, change));
    expect(await patch({ metadata: { labels: { zone: 'a' } } })).toBe('ok');
    expect(await patch({ spec: { clusterSet: 'blue' } })).toMatch(/must have the same name|immutable/);
  });

  it('while Berth is dead, what could give rights is refused and everything else goes on', async () => {
    expect(await bob.create('dead-1')).toBe('ok');
    await world().stopBerth();
    expect(await bob.create('dead-2')).toMatch(/failed calling webhook "rights\.managedclusters/);
    expect(await bob.patch('dead-1', { spec: { hubAcceptsClient: true } })).toMatch(/failed calling webhook/);
    expect(await bob.label('dead-1', 'red')).toMatch(/failed calling webhook/);
    expect(await bob.bind('blue', 'blue')).toMatch(/failed calling webhook "managedclustersetbindings/);

    const taints = [{ key: 'maintenance', effect: 'NoSelect' }];
    expect(await ann.patch('dead-1', { spec: { taints } })).toBe('ok');
    expect((await read('dead-1')).spec?.taints?.[0]?.timeAdded ?? null).toBeNull();
    expect(await ann.patch('dead-1', { metadata: { finalizers: ['example.org/f'] } })).toBe('ok');
    expect(await ann.patch('dead-1', { metadata: { labels: { zone: 'a' } } })).toBe('ok');
    const configs = [{ url: 'https://x:6443' }];
    expect(await ann.patch('dead-1', { spec: { managedClusterClientConfigs: configs } })).toBe('ok');
    const status = { conditions: [], version: { kubernetes: 'v1.35.4' } };
    const key = { namespace: '', name: 'dead-1' };
    const reported = world().as(ANN).mergePatch(MANAGED_CLUSTER, key, { status }, { subresource: 'status' });
    expect(await textOf(reported)).toBe('ok');

    await world().startBerth();
    await expect.poll(() => bob.patch('dead-1', { spec: { hubAcceptsClient: true } })).toBe('ok');
    // The next write gives the taint the time that it did not get. Berth may have come up in the middle of the one before.
    expect(await ann.patch('dead-1', { metadata: { labels: { zone: 'b' } } })).toBe('ok');
    expect((await read('dead-1')).spec?.taints?.[0]?.timeAdded).toMatch(/^\d{4}-/);
    expect(await ann.patch('dead-1', { metadata: { finalizers: null } })).toBe('ok');
    expect(await textOf(world().admin.delete(MANAGED_CLUSTER, key))).toBe('ok');
  });
}
