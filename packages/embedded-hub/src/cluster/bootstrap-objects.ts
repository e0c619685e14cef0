import { FRONT_PROXY } from '../auth/certificates/client-signer.ts';
import type { ClusterAuthorities } from '../auth/certificates/key-store.ts';
import { RBAC_GROUP } from '../auth/rbac/authorizer.ts';
import { deepEqual, type JsonObject, objectAt } from '../json/json-value.ts';
import type { Cluster } from '../request/cluster.ts';
import { LocalClient, type ResourceIdentity } from '../rest/local-client.ts';

export const SERVICES = { group: '', version: 'v1', plural: 'services' } as const;

interface BootstrapObject {
  readonly resource: ResourceIdentity;
  readonly namespace: string;
  readonly object: JsonObject;
}

const CORE = { group: '', version: 'v1' };
const RBAC = { group: RBAC_GROUP, version: 'v1' };
const RBAC_API = `${RBAC_GROUP}/v1`;
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const BOOTSTRAP_LABEL = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };

/** Kinds that the `view` role may read: all namespaced kinds that contain no secrets. */
const VIEWABLE: readonly (readonly [string, readonly string[]])[] = [
  [
    '',
    [
      'configmaps',
      'endpoints',
      'events',
      'limitranges',
      'namespaces',
      'persistentvolumeclaims',
      'pods',
      'resourcequotas',
      'serviceaccounts',
      'services',
    ],
  ],
  ['apps', ['*']],
  ['batch', ['*']],
  ['networking.k8s.io', ['*']],
  ['policy', ['*']],
  ['autoscaling', ['*']],
  ['events.k8s.io', ['events']],
];

function rule(
  apiGroups: readonly string[],
  resources: readonly string[],
  verbs: readonly string[],
): JsonObject {
  return { apiGroups: [...apiGroups], resources: [...resources], verbs: [...verbs] };
}

function clusterRole(name: string, rules: readonly JsonObject[]): BootstrapObject {
  const metadata = { name, labels: BOOTSTRAP_LABEL };
  const object = { apiVersion: RBAC_API, kind: 'ClusterRole', metadata, rules: [...rules] };
  return { resource: { ...RBAC, plural: 'clusterroles' }, namespace: '', object };
}

function clusterRoleBinding(name: string, group: string): BootstrapObject {
  const object = {
    apiVersion: RBAC_API,
    kind: 'ClusterRoleBinding',
    metadata: { name, labels: BOOTSTRAP_LABEL },
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
    subjects: [{ apiGroup: RBAC_GROUP, kind: 'Group', name: group }],
  };
  return { resource: { ...RBAC, plural: 'clusterrolebindings' }, namespace: '', object };
}

function roles(): BootstrapObject[] {
  const view = VIEWABLE.map(([group, resources]) => rule([group], resources, READ));
  const edit = VIEWABLE.map(([group, resources]) =>
    rule(
      [group],
      resources.filter((name) => name !== 'namespaces'),
      WRITE,
    ),
  );
  const secrets = rule([''], ['secrets'], [...READ, ...WRITE]);
  const roleAdmin = rule([RBAC_GROUP], ['roles', 'rolebindings'], [...READ, ...WRITE]);
  const reviews = ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'];
  const paths = [
    '/api',
    '/api/*',
    '/apis',
    '/apis/*',
    '/healthz',
    '/livez',
    '/openapi',
    '/openapi/*',
    '/readyz',
    '/version',
    '/version/',
    '/',
  ];
  return [
    clusterRole('cluster-admin', [rule(['*'], ['*'], ['*']), { nonResourceURLs: ['*'], verbs: ['*'] }]),
    clusterRole('admin', [
      ...view,
      ...edit,
      secrets,
      roleAdmin,
      rule(['authorization.k8s.io'], ['localsubjectaccessreviews'], ['create']),
    ]),
    clusterRole('edit', [...view, ...edit, secrets]),
    clusterRole('view', view),
    clusterRole('system:discovery', [{ nonResourceURLs: paths, verbs: ['get'] }]),
    clusterRole('system:basic-user', [
      rule(['authorization.k8s.io'], reviews, ['create']),
      rule(['authentication.k8s.io'], ['selfsubjectreviews'], ['create']),
    ]),
    clusterRoleBinding('cluster-admin', 'system:masters'),
    clusterRoleBinding('system:discovery', 'system:authenticated'),
    clusterRoleBinding('system:basic-user', 'system:authenticated'),
  ];
}

/** The objects that every cluster has from the start. */
function bootstrapObjects(): readonly BootstrapObject[] {
  const namespace = (name: string): BootstrapObject => ({
    resource: { ...CORE, plural: 'namespaces' },
    namespace: '',
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  });
  const reader: BootstrapObject = {
    resource: { ...RBAC, plural: 'roles' },
    namespace: 'kube-system',
    object: {
      apiVersion: RBAC_API,
      kind: 'Role',
      metadata: {
        name: 'extension-apiserver-authentication-reader',
        namespace: 'kube-system',
        labels: BOOTSTRAP_LABEL,
      },
      rules: [{ ...rule([''], ['configmaps'], READ), resourceNames: ['extension-apiserver-authentication'] }],
    },
  };
  const service: BootstrapObject = {
    resource: SERVICES,
    namespace: KUBERNETES_SERVICE.metadata.namespace,
    object: KUBERNETES_SERVICE,
  };
  const names = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
  return [...names.map(namespace), ...roles(), reader, service];
}

const AUTHENTICATION = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };

/** Extension servers and all OCM binaries read both authorities from here to authenticate users. */
function authenticationData({ clients, frontProxy }: ClusterAuthorities): JsonObject {
  return {
    'client-ca-file': clients.certPem,
    'requestheader-client-ca-file': frontProxy.certPem,
    'requestheader-allowed-names': JSON.stringify([FRONT_PROXY]),
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  };
}

/**
 * Creates missing objects in one commit. Existing ones stay unchanged, except for the authorities:
 * extension servers must not trust an authority that the cluster no longer uses.
 */
export async function createBootstrapObjects(
  cluster: Cluster & { readonly authorities: ClusterAuthorities },
): Promise<void> {
  const client = new LocalClient(cluster, 'bootstrap', { withoutWebhooks: true });
  const written: Promise<unknown>[] = [];
  for (const { resource, namespace, object } of bootstrapObjects()) {
    const ref = client.ref(resource);
    if (ref === undefined) continue;
    const metadata = object['metadata'] as { name: string };
    if (client.get(ref, { namespace, name: metadata.name }) !== undefined) continue;
    // The objects are in the store already; this waits for the disk.
    written.push(client.create(ref, namespace, object));
  }
  written.push(publishAuthorities(client, authenticationData(cluster.authorities)));
  await Promise.all(written);
}

async function publishAuthorities(client: LocalClient, data: JsonObject): Promise<void> {
  const ref = client.ref({ ...CORE, plural: 'configmaps' });
  if (ref === undefined) return;
  const present = client.get(ref, AUTHENTICATION);
  if (present === undefined) {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...AUTHENTICATION }, data };
    await client.create(ref, AUTHENTICATION.namespace, object);
  } else if (!deepEqual(objectAt(present, 'data'), data))
    await client.mergePatch(ref, AUTHENTICATION, { data });
}

/**
 * The Service by which programs in a cluster know its API server. Its address is the first one of the range that kubeadm and kind
 * use, its target the usual port of kube-apiserver: nothing is routed to either, because no pod runs on an embedded cluster. So it
 * has no Endpoints and no EndpointSlice: those hold no loopback address, where a hub listens by default, and cannot name the path
 * below which a member is served.
 * Source: kubernetes `pkg/controlplane/controller/kubernetesservice/controller.go`.
 */
export const KUBERNETES_SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'kubernetes',
    namespace: 'default',
    labels: { component: 'apiserver', provider: 'kubernetes' },
  },
  spec: {
    type: 'ClusterIP',
    clusterIP: '10.96.0.1',
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
    ipFamilyPolicy: 'SingleStack',
  },
};
