import { CERTIFICATE_REQUEST, LEASE, MANAGED_CLUSTER, NAMESPACE } from '@berth/kube/model/kinds';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';

const RBAC = 'rbac.authorization.k8s.io';
const CLUSTER_GROUP = 'cluster.open-cluster-management.io';
const WORK_GROUP = 'work.open-cluster-management.io';
const rbacKind = (kind: string, namespaced: boolean): KindInfo => ({
  group: RBAC,
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced,
});
const CLUSTER_ROLE = rbacKind('ClusterRole', false);
const CLUSTER_ROLE_BINDING = rbacKind('ClusterRoleBinding', false);
const ROLE_BINDING = rbacKind('RoleBinding', true);

type Rule = readonly [
  groups: readonly string[],
  resources: readonly string[],
  verbs: readonly string[],
  names?: readonly string[],
];

const rules = (...list: readonly Rule[]) =>
  list.map(([apiGroups, resources, verbs, resourceNames]) => ({
    apiGroups,
    resources,
    verbs,
    ...(resourceNames && { resourceNames }),
  }));

/** What OCM gives a bootstrap account. */
const BOOTSTRAP = rules(
  [[''], ['configmaps'], ['get']],
  [['certificates.k8s.io'], ['certificatesigningrequests'], ['create', 'get', 'list', 'watch']],
  [[CLUSTER_GROUP], ['managedclusters'], ['get', 'create', 'list', 'watch']],
  [[CLUSTER_GROUP], ['managedclustersets/join'], ['create']],
);
/** What OCM gives the agents of all clusters, in their namespaces. */
const REGISTRATION = rules(
  [['coordination.k8s.io'], ['leases'], ['get', 'list', 'watch', 'update']],
  [['addon.open-cluster-management.io'], ['managedclusteraddons'], ['get', 'list', 'watch']],
  [['addon.open-cluster-management.io'], ['managedclusteraddons/status'], ['patch', 'update']],
  [['events.k8s.io'], ['events'], ['create']],
);
const WORK = rules(
  [[WORK_GROUP], ['manifestworks'], ['get', 'list', 'watch', 'update', 'patch']],
  [[WORK_GROUP], ['manifestworks/status'], ['patch', 'update']],
  [['', 'events.k8s.io'], ['events'], ['create', 'patch', 'update']],
);
/** What OCM gives the agents of one cluster. */
const ownRules = (name: string) =>
  rules(
    [['certificates.k8s.io'], ['certificatesigningrequests'], ['create', 'get', 'list', 'watch']],
    [['register.open-cluster-management.io'], ['managedclusters/clientcertificates'], ['renew']],
    [[CLUSTER_GROUP], ['managedclusters'], ['get', 'list', 'update', 'watch'], [name]],
    [[CLUSTER_GROUP], ['managedclusters/status'], ['patch', 'update'], [name]],
  );

/** The hub's administrator and its controllers, by hand: a test says when each of them acts. */
export class HubSide {
  readonly api: KubeApi;

  constructor(api: KubeApi) {
    this.api = api;
  }

  /**
   * The roles that are there before any cluster is.
   * @param bootstrapUser may register clusters
   */
  async prepare(bootstrapUser: string): Promise<void> {
    await this.prepareBootstrap(bootstrapUser);
    await this.#role('open-cluster-management:managedcluster:registration', REGISTRATION);
    await this.#role('open-cluster-management:managedcluster:work', WORK);
  }

  /** The part of it that is there where controllers do the rest. */
  async prepareBootstrap(bootstrapUser: string): Promise<void> {
    await this.#role('open-cluster-management:bootstrap', BOOTSTRAP);
    await this.api.create(CLUSTER_ROLE_BINDING, {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'open-cluster-management:bootstrap' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'open-cluster-management:bootstrap' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: bootstrapUser }],
    });
  }

  async cluster(name: string): Promise<ManagedCluster | undefined> {
    return (await this.api.get(MANAGED_CLUSTER, { namespace: '', name })) as unknown as
      | ManagedCluster
      | undefined;
  }

  async requests(cluster: string): Promise<readonly KubeObject[]> {
    const labelSelector = `${CLUSTER_NAME_LABEL}=${cluster}`;
    return (await this.api.list(CERTIFICATE_REQUEST, { labelSelector })).items;
  }

  async lease(cluster: string): Promise<string | undefined> {
    const found = await this.api.get(LEASE, { namespace: cluster, name: 'managed-cluster-lease' });
    return (found?.['spec'] as { renewTime?: string } | undefined)?.renewTime;
  }

  async condition(cluster: string, type: string): Promise<string | undefined> {
    const found = (await this.cluster(cluster))?.status?.conditions?.find((one) => one.type === type);
    return found?.status;
  }

  /**
   * Approves, or denies, every request of a cluster that nobody decided on.
   * @returns how many
   */
  async decide(cluster: string, type: 'Approved' | 'Denied' = 'Approved'): Promise<number> {
    const open = (await this.requests(cluster)).filter(
      ({ status }) => (status as { conditions?: unknown } | undefined)?.conditions === undefined,
    );
    for (const request of open) {
      const conditions = [{ type, status: 'True', reason: 'Test', message: 'by the test' }];
      await this.api.update(
        CERTIFICATE_REQUEST,
        { ...request, status: { conditions } },
        { subresource: 'approval' as 'status' },
      );
    }
    return open.length;
  }

  /** All that OCM's hub does for a cluster that is accepted. */
  async accept(name: string, leaseDurationSeconds = 60): Promise<void> {
    const key = { namespace: '', name };
    await this.api.mergePatch(MANAGED_CLUSTER, key, {
      spec: { hubAcceptsClient: true, leaseDurationSeconds },
    });
    await this.#create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const own = `open-cluster-management:managedcluster:${name}`;
    await this.#role(own, ownRules(name));
    await this.#bind(CLUSTER_ROLE_BINDING, own, { role: own, cluster: name });
    await this.grant(name);
    await this.#create(LEASE, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'managed-cluster-lease', namespace: name, labels: { [CLUSTER_NAME_LABEL]: name } },
      spec: { holderIdentity: 'managed-cluster-lease', renewTime: '2020-01-01T00:00:00.000000Z' },
    });
    await this.setAccepted(name, 'True');
  }

  /** The part of acceptance that a denial takes back. */
  async grant(name: string): Promise<void> {
    const own = `open-cluster-management:managedcluster:${name}`;
    for (const part of ['registration', 'work'])
      await this.#bind(ROLE_BINDING, `${own}:${part}`, {
        role: `open-cluster-management:managedcluster:${part}`,
        cluster: name,
        namespace: name,
      });
  }

  async deny(name: string): Promise<void> {
    await this.api.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name },
      { spec: { hubAcceptsClient: false } },
    );
    for (const part of ['registration', 'work'])
      await this.api.delete(ROLE_BINDING, {
        namespace: name,
        name: `open-cluster-management:managedcluster:${name}:${part}`,
      });
    await this.setAccepted(name, 'False');
  }

  async setAccepted(name: string, status: 'True' | 'False'): Promise<void> {
    await this.setCondition(name, {
      type: 'HubAcceptedManagedCluster',
      status,
      reason: status === 'True' ? 'HubClusterAdminAccepted' : 'HubClusterAdminDenied',
      message: '',
    });
  }

  async setCondition(
    name: string,
    condition: {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    },
  ): Promise<void> {
    const others =
      (await this.cluster(name))?.status?.conditions?.filter(({ type }) => type !== condition.type) ?? [];
    const next = { ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' };
    await this.api.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name },
      { status: { conditions: [...others, next] } },
      { subresource: 'status' },
    );
  }

  async #role(name: string, list: readonly object[]): Promise<void> {
    await this.#create(CLUSTER_ROLE, {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: list,
    });
  }

  async #bind(
    kind: KindInfo,
    name: string,
    of: { readonly role: string; readonly cluster: string; readonly namespace?: string },
  ): Promise<void> {
    await this.#create(kind, {
      apiVersion: `${RBAC}/v1`,
      kind: kind.kind,
      metadata: { name, ...(of.namespace !== undefined && { namespace: of.namespace }) },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: of.role },
      subjects: [{ apiGroup: RBAC, kind: 'Group', name: `system:open-cluster-management:${of.cluster}` }],
    });
  }

  async #create(kind: KindInfo, object: KubeObject): Promise<void> {
    const { namespace = '', name } = object.metadata;
    if ((await this.api.get(kind, { namespace, name })) === undefined) await this.api.create(kind, object);
  }
}
