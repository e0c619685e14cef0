import { kind } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { secretTexts } from '@berth/kube/secret-texts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { done, failed, type Outcome } from '@berth/runtime/outcome';

/* Source of the rules: cluster-gateway 1.9.1 `pkg/apis/cluster/v1alpha1/clustergateway_types_secret.go`. */

export const GATEWAY_GROUP = 'cluster.core.oam.dev';
export const GATEWAY_VERSION = 'v1alpha1';
export const CLUSTER_GATEWAY = kind(GATEWAY_GROUP, GATEWAY_VERSION, 'ClusterGateway', 'Cluster');
/** On Secrets that are a gateway. */
export const CREDENTIAL_LABEL = `${GATEWAY_GROUP}/cluster-credential-type`;
const ENDPOINT_LABEL = `${GATEWAY_GROUP}/cluster-endpoint-type`;
const HEALTHY = `status.${GATEWAY_GROUP}/healthy`;
const HEALTHY_REASON = `status.${GATEWAY_GROUP}/healthy-reason`;

export type GatewayEndpoint =
  /** Through the tunnel of the add-on cluster-proxy. */
  | { readonly type: 'ClusterProxy' }
  /** @param caPem undefined: the certificate is not checked */
  | { readonly type: 'Const'; readonly address: string; readonly caPem: string | undefined };

export type GatewayCredential =
  | { readonly type: 'ServiceAccountToken'; readonly token: string }
  | { readonly type: 'X509Certificate'; readonly cert: string; readonly key: string };

/** How the API server of a cluster is reached, and as whom. */
export interface Gateway {
  /** Of the cluster. */
  readonly name: string;
  readonly createdAt: string | undefined;
  readonly secret: { readonly namespace: string; readonly name: string };
  readonly endpoint: GatewayEndpoint;
  readonly credential: GatewayCredential;
  readonly health: GatewayHealth;
}

export interface GatewayHealth {
  readonly healthy: boolean;
  readonly healthyReason?: string | undefined;
}

/**
 * The gateway that a labelled Secret is.
 * @param cluster its first client configuration is used in the place of the Secret's address
 */
export function gatewayOfSecret(secret: KubeObject, cluster: ManagedCluster | undefined): Outcome<Gateway> {
  const { labels = {}, name } = secret.metadata;
  const texts = secretTexts(secret);
  const credential = credentialOf(labels[CREDENTIAL_LABEL] ?? '', texts);
  if (!credential.ok) return credential;
  const endpoint = endpointOf(labels[ENDPOINT_LABEL] ?? 'Const', texts, cluster);
  if (!endpoint.ok) return endpoint;
  return done(gateway(name, secret, { endpoint: endpoint.value, credential: credential.value }));
}

/** The gateway of a cluster whose account the add-on managed-serviceaccount keeps: the token in the cluster's namespace of the hub. */
export function gatewayOfAccount(secret: KubeObject): Outcome<Gateway> {
  const { token } = secretTexts(secret);
  if (!token) return failed('the Secret of the ManagedServiceAccount has no token');
  const credential = { type: 'ServiceAccountToken', token } as const;
  const endpoint = { type: 'ClusterProxy' } as const;
  return done(gateway(secret.metadata.namespace ?? '', secret, { endpoint, credential }));
}

function gateway(
  name: string,
  { metadata }: KubeObject,
  access: Pick<Gateway, 'endpoint' | 'credential'>,
): Gateway {
  const { namespace = '', annotations = {}, creationTimestamp } = metadata;
  const reason = annotations[HEALTHY_REASON];
  return {
    ...{
      name,
      createdAt: creationTimestamp ?? undefined,
      secret: { namespace, name: metadata.name },
      ...access,
    },
    health: { healthy: annotations[HEALTHY] === 'true', ...(reason && { healthyReason: reason }) },
  };
}

type Texts = Readonly<Record<string, string>>;

function credentialOf(type: string, texts: Texts): Outcome<GatewayCredential> {
  const { token, 'tls.crt': cert, 'tls.key': key } = texts;
  switch (type) {
    case 'ServiceAccountToken':
      return token ? done({ type, token }) : failed('the Secret has no token');
    case 'X509Certificate':
      return cert && key ? done({ type, cert, key }) : failed('the Secret has no tls.crt and tls.key');
    case 'Dynamic':
      return failed('the credential type Dynamic runs a program that a Secret names, which Berth does not');
    default:
      return failed(`unrecognized secret credential type ${type}`);
  }
}

function endpointOf(
  type: string,
  texts: Texts,
  cluster: ManagedCluster | undefined,
): Outcome<GatewayEndpoint> {
  if (type === 'ClusterProxy') return done({ type });
  if (texts['proxy-url']) return failed('a proxy before the cluster (proxy-url) is not supported');
  if (type !== 'Const') return failed(`unrecognized cluster endpoint type ${type}`);
  const [config] = cluster?.spec?.managedClusterClientConfigs ?? [];
  const address = config?.url || (texts['endpoint'] ?? '').trim();
  // Without one the authorities of this machine count; a Secret without one is not checked.
  const caPem = config?.url
    ? Buffer.from(config.caBundle ?? '', 'base64').toString('utf8')
    : (texts['ca.crt'] ?? texts['ca']);
  if (address === '') return failed('missing label key: api-endpoint');
  if (!isAddress(address)) return failed('its address is no URL of a server with https');
  return done({ type, address, caPem });
}

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return protocol === 'https:' && [username, password, search, hash].every((part) => part === '');
}

/** As others see it: what the credential is, and nothing of it. Upstream shows tokens and keys. */
export function gatewayObject({ name, createdAt, endpoint, credential, health }: Gateway): KubeObject {
  const { type } = endpoint;
  return {
    ...{ apiVersion: groupVersion, kind: KIND },
    metadata: { name, ...(createdAt !== undefined && { creationTimestamp: createdAt }) },
    spec: {
      provider: '',
      access: {
        endpoint: {
          type,
          ...(endpoint.type === 'Const' && { const: constEndpoint(endpoint) }),
        },
        credential: { type: credential.type },
      },
    },
    status: health,
  };
}

function constEndpoint({ address, caPem }: Extract<GatewayEndpoint, { type: 'Const' }>): object {
  if (caPem === undefined) return { address, insecure: true };
  return { address, ...(caPem !== '' && { caBundle: Buffer.from(caPem).toString('base64') }) };
}

const COLUMNS = [
  { name: 'Name', format: 'name', description: 'the name of the cluster', priority: 0 },
  { name: 'Provider', format: '', description: 'the cluster provider type', priority: 0 },
  { name: 'Credential-Type', format: '', description: 'the credential type', priority: 0 },
  { name: 'Endpoint-Type', format: '', description: 'the endpoint type', priority: 0 },
  { name: 'Healthy', format: '', description: 'the healthiness of the gateway', priority: 1 },
];

/**
 * What kubectl prints. `Healthy` is for `-o wide`.
 * @param include what each row has besides its cells: the parameter `includeObject`
 */
export function gatewayTable(gateways: readonly Gateway[], include: string | null): object {
  return {
    ...{ kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: {} },
    columnDefinitions: COLUMNS.map((column) => ({ type: 'string', ...column })),
    rows: gateways.map((one) => {
      const object = gatewayObject(one);
      const { metadata } = object;
      const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
      const { credential, endpoint, health } = one;
      return {
        cells: [one.name, '', credential.type, endpoint.type, String(health.healthy)],
        ...(include !== 'None' && { object: include === 'Object' ? object : partial }),
      };
    }),
  };
}

/** The change of a Secret that notes the health of its gateway. */
export function healthPatch({ healthy, healthyReason }: GatewayHealth): object {
  const annotations = { [HEALTHY]: String(healthy), [HEALTHY_REASON]: healthyReason ?? '' };
  return { metadata: { annotations } };
}

/* What clients discover of the API. */

const groupVersion = `${GATEWAY_GROUP}/${GATEWAY_VERSION}`;
export const GROUP_PATH = `/apis/${GATEWAY_GROUP}`;
export const API_PATH = `/apis/${groupVersion}`;
const KIND = CLUSTER_GATEWAY.kind;

const VERSION = { groupVersion, version: GATEWAY_VERSION };
export const API_GROUP = {
  ...{ kind: 'APIGroup', apiVersion: 'v1', name: GATEWAY_GROUP },
  ...{ versions: [VERSION], preferredVersion: VERSION },
};

/** Source: cluster-gateway 1.9.1, as its server answers. */
export const API_RESOURCES = {
  ...{ kind: 'APIResourceList', apiVersion: 'v1', groupVersion },
  resources: [
    {
      ...{ name: 'clustergateways', singularName: 'clustergateway', namespaced: false, kind: KIND },
      verbs: ['get', 'list'],
    },
    {
      ...{ name: 'clustergateways/health', singularName: '', namespaced: false, kind: KIND },
      verbs: ['get', 'update'],
    },
    {
      ...{ name: 'clustergateways/proxy', singularName: '', namespaced: false },
      kind: 'ClusterGatewayProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
    },
  ],
};

export function gatewayList(items: readonly KubeObject[]): object {
  return { kind: `${KIND}List`, apiVersion: groupVersion, metadata: { resourceVersion: '' }, items };
}
