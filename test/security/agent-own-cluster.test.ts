import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpKubeApi } from '@berth/kube/http-kube-api';
import { BerthError, InputError } from '@berth/runtime/errors';
import {
  ADDON_PLACEMENT_SCORE,
  apiVersionOf,
  CERTIFICATE_REQUEST,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  CONFIG_MAP,
  EVENT,
  kind,
  type KindInfo,
  LEASE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
  ROLE_BINDING,
  SECRET,
  SELF_SUBJECT_ACCESS_REVIEW,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { RegistrationWorld } from '../controllers/registration/registration-world.ts';

const CORE_EVENT = kind('', 'v1', 'Event', 'Namespaced');
const KINDS = [
  ...[MANAGED_CLUSTER, MANAGED_CLUSTER_SET, MANAGED_CLUSTER_SET_BINDING, PLACEMENT, PLACEMENT_DECISION],
  ...[ADDON_PLACEMENT_SCORE, MANIFEST_WORK, MANAGED_CLUSTER_ADDON, LEASE, EVENT, CORE_EVENT, SECRET],
  ...[CONFIG_MAP, NAMESPACE, CERTIFICATE_REQUEST, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE_BINDING],
];
const WITH_STATUS = new Set([MANAGED_CLUSTER, MANIFEST_WORK, MANAGED_CLUSTER_ADDON, ADDON_PLACEMENT_SCORE]);

let world: RegistrationWorld;
let agent: HttpKubeApi | undefined;
beforeAll(async () => {
  world = await RegistrationWorld.create();
});
/** Once for all: `expect.poll` wants a test. */
beforeEach(async () => {
  if (agent !== undefined) return;
  for (const name of ['c1', 'c2']) await world.accepted(name);
  agent = await world.agentOf('c1');
});
afterAll(() => world.close());

interface Attempt {
  readonly verb: string;
  readonly run: (api: HttpKubeApi, of: KindInfo, cluster: string) => Promise<unknown>;
}

/** An object that the server would refuse for its content, after it has allowed the request. */
function object(of: KindInfo, cluster: string): KubeObject {
  const metadata = of.namespaced
    ? { name: 'x', namespace: cluster, resourceVersion: '1' }
    : { name: cluster, resourceVersion: '1' };
  return { apiVersion: apiVersionOf(of), kind: of.kind, metadata };
}

const keyOf = (of: KindInfo, cluster: string) =>
  of.namespaced ? { namespace: cluster, name: 'x' } : { namespace: '', name: cluster };

/** Asks whether the verb is allowed, where an attempt would wait for events or take everything away. */
const asked = (verb: string): Attempt => ({
  verb,
  run: async (api, { group, plural: resource, namespaced }, cluster) => {
    const place = namespaced ? { namespace: cluster } : { name: cluster };
    if (await mayDo(api, { verb, group, resource, ...place })) return;
    throw new InputError('is not allowed', { code: 'kube.forbidden', subject: resource });
  },
});

async function mayDo(api: HttpKubeApi, resourceAttributes: object): Promise<boolean> {
  const review = await api.create(SELF_SUBJECT_ACCESS_REVIEW, {
    apiVersion: apiVersionOf(SELF_SUBJECT_ACCESS_REVIEW),
    kind: SELF_SUBJECT_ACCESS_REVIEW.kind,
    metadata: {} as KubeObject['metadata'],
    spec: { resourceAttributes },
  });
  return (review['status'] as { readonly allowed?: boolean }).allowed === true;
}

const ATTEMPTS: readonly Attempt[] = [
  { verb: 'get', run: (api, of, cluster) => api.get(of, keyOf(of, cluster)) },
  { verb: 'list', run: (api, of, cluster) => api.list(of, of.namespaced ? { namespace: cluster } : {}) },
  { verb: 'create', run: (api, of, cluster) => api.create(of, object(of, cluster), { dryRun: true }) },
  { verb: 'update', run: (api, of, cluster) => api.update(of, object(of, cluster), { dryRun: true }) },
  {
    verb: 'patch',
    run: (api, of, cluster) => api.mergePatch(of, keyOf(of, cluster), { metadata: {} }, { dryRun: true }),
  },
  { verb: 'delete', run: (api, of, cluster) => api.delete(of, keyOf(of, cluster), { resourceVersion: '1' }) },
  asked('watch'),
  asked('deletecollection'),
];
const STATUS_ATTEMPTS: readonly Attempt[] = [
  {
    verb: 'update/status',
    run: (api, of, cluster) => api.update(of, object(of, cluster), { subresource: 'status', dryRun: true }),
  },
  {
    verb: 'patch/status',
    run: (api, of, cluster) =>
      api.mergePatch(of, keyOf(of, cluster), { metadata: {} }, { subresource: 'status', dryRun: true }),
  },
];

/** `resource: verbs` of everything that the hub does not forbid. */
async function allowed(api: HttpKubeApi | undefined, cluster: string): Promise<readonly string[]> {
  if (api === undefined) throw new Error('no agent');
  const found: string[] = [];
  for (const of of KINDS) {
    const attempts = WITH_STATUS.has(of) ? [...ATTEMPTS, ...STATUS_ATTEMPTS] : ATTEMPTS;
    const verbs: string[] = [];
    for (const { verb, run } of attempts) {
      const error: unknown = await run(api, of, cluster).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      const isForbidden = error instanceof BerthError && error.code === 'kube.forbidden';
      if (!isForbidden) verbs.push(verb);
    }
    if (verbs.length > 0) found.push(`${of.plural}.${of.group}: ${verbs.join(' ')}`);
  }
  return found.sort();
}

const EVERYWHERE = ['certificatesigningrequests.certificates.k8s.io: get list create watch'];

describe('the certificate of an agent', () => {
  it('reads and writes what is of its own cluster', async () => {
    expect(await allowed(agent, 'c1')).toEqual([
      ...EVERYWHERE,
      'events.: create update patch',
      'events.events.k8s.io: create update patch',
      'leases.coordination.k8s.io: get list update watch',
      'managedclusteraddons.addon.open-cluster-management.io: get list watch update/status patch/status',
      'managedclusters.cluster.open-cluster-management.io: get update watch update/status patch/status',
      'manifestworks.work.open-cluster-management.io: get list update patch watch update/status patch/status',
    ]);
  });

  it.each(['c2', 'default', 'kube-system', 'c1x'])('reads and writes nothing of %s', async (other) => {
    expect(await allowed(agent, other)).toEqual(EVERYWHERE);
  });

  it.each([
    ['certificates.k8s.io', 'certificatesigningrequests', 'approval', 'update'],
    ['certificates.k8s.io', 'signers', '', 'approve'],
    ['register.open-cluster-management.io', 'managedclusters', 'accept', 'update'],
    ['cluster.open-cluster-management.io', 'managedclustersets', 'join', 'create'],
    ['cluster.open-cluster-management.io', 'managedclustersets', 'bind', 'create'],
    ['rbac.authorization.k8s.io', 'clusterroles', '', 'escalate'],
    ['rbac.authorization.k8s.io', 'clusterroles', '', 'bind'],
    ['', 'serviceaccounts', 'token', 'create'],
    ['', 'serviceaccounts', '', 'impersonate'],
    ['', 'users', '', 'impersonate'],
    ['', 'groups', '', 'impersonate'],
    ['*', '*', '', '*'],
  ])('gives no right to %s %s %s: %s, in its own cluster or another', async (...asking) => {
    const [group, resource, subresource, verb] = asking;
    for (const cluster of ['c1', 'c2']) {
      const attributes = { group, resource, subresource, verb, name: cluster, namespace: cluster };
      expect({ cluster, may: agent && (await mayDo(agent, attributes)) }).toEqual({ cluster, may: false });
    }
  });

  it('moves no other lease and accepts nothing', async () => {
    const lease = await world.get(LEASE, 'managed-cluster-lease', 'c2');
    if (lease === undefined) throw new Error('no lease');
    await expect(agent?.update(LEASE, lease)).rejects.toMatchObject({ code: 'kube.forbidden' });
    const own = (await agent?.get(MANAGED_CLUSTER, { namespace: '', name: 'c1' })) as KubeObject;
    const labels = { 'cluster.open-cluster-management.io/clusterset': 'production' };
    await expect(
      agent?.update(MANAGED_CLUSTER, { ...own, metadata: { ...own.metadata, labels } }),
    ).rejects.toMatchObject({ code: 'kube.forbidden' });
  });

  it('is worth nothing before its cluster is accepted', async () => {
    await world.register('c3');
    const early = await world.agentOf('c3');
    expect(await allowed(early, 'c3')).toEqual([]);
  });

  it('sees only that its cluster is denied, once it is', async () => {
    await world.accepted('c4');
    const denied = await world.agentOf('c4');
    await world.accept('c4', false);
    const role = 'open-cluster-management:managedcluster:c4:work';
    await expect.poll(() => world.get(ROLE_BINDING, role, 'c4')).toBeUndefined();
    await expect
      .poll(() => allowed(denied, 'c4'))
      .toEqual(['managedclusters.cluster.open-cluster-management.io: get watch']);
  });
});
