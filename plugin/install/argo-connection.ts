import { PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';

export interface ArgoConnection {
  /** The namespace of Argo CD. */
  readonly namespace: string;
  /** The name of the plugin generator's ConfigMap. Its Secret is `NAME-plugin`. */
  readonly name: string;
  /** The address at which Argo CD reaches Berth, without `/api/v1/getparams.execute`. */
  readonly baseUrl: string;
  /** Undefined: the Secret is not changed. */
  readonly token: string | undefined;
}

/** The key of the token in the Secret. */
const TOKEN_KEY = 'token';
const REQUEST_TIMEOUT_SECONDS = 10;
const RBAC_GROUP = 'rbac.authorization.k8s.io';
/** The ConfigMap of the clusterDecisionResource generator. */
export const DECISIONS_CONFIG = 'berth-placement-decisions';
const READER_ROLE = 'read-placement-decisions';
/** The accounts that run generators; the second one previews ApplicationSets. */
export const GENERATOR_ACCOUNTS = ['argocd-applicationset-controller', 'argocd-server'] as const;

/**
 * The objects in the namespace of Argo CD that connect it with Berth: a ConfigMap and a token for the plugin generator,
 * a ConfigMap and the right to list PlacementDecisions for the clusterDecisionResource generator.
 * `plugin/manifests/argocd.yaml` contains the same.
 * Source: https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-Plugin/
 */
export function argoConnectionObjects(connection: ArgoConnection): readonly KubeObject[] {
  const { namespace, name, baseUrl, token } = connection;
  const inArgo = objectsIn(namespace);
  const secret = inArgo('v1', 'Secret', secretName(name), { stringData: { [TOKEN_KEY]: token } });
  const rules = [
    {
      apiGroups: [PLACEMENT_DECISION.group],
      resources: [PLACEMENT_DECISION.plural],
      verbs: ['get', 'list'],
    },
  ];
  return [
    inArgo('v1', 'ConfigMap', name, {
      data: {
        baseUrl,
        token: `$${secretName(name)}:${TOKEN_KEY}`,
        requestTimeout: String(REQUEST_TIMEOUT_SECONDS),
      },
    }),
    ...(token === undefined ? [] : [labelled(secret)]),
    inArgo('v1', 'ConfigMap', DECISIONS_CONFIG, { data: DECISIONS_GENERATOR }),
    inArgo(`${RBAC_GROUP}/v1`, 'Role', READER_ROLE, { rules }),
    inArgo(`${RBAC_GROUP}/v1`, 'RoleBinding', READER_ROLE, {
      roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name: READER_ROLE },
      subjects: GENERATOR_ACCOUNTS.map((account) => ({
        kind: 'ServiceAccount',
        name: account,
        namespace,
      })),
    }),
  ];
}

/**
 * What lets the pages of Argo CD ask Berth: a Secret, and fields in objects that Argo CD has (docs/argocd-extension.md).
 * Source: argo-cd 3.6 docs/developer-guide/extensions, argocd-extension-installer 0.0.9.
 * @param connection with an address without a path, since the proxy of Argo CD leaves it out
 */
export function argoExtensionObjects(
  connection: ArgoConnection & { readonly token: string },
): readonly KubeObject[] {
  const { namespace, name, baseUrl, token } = connection;
  const secret = `${name}-extension`;
  const inArgo = objectsIn(namespace);
  const backend = { url: baseUrl, headers: [{ name: 'Authorization', value: `$${secret}:authorization` }] };
  const files = `${baseUrl.replace(/\/$/, '')}/argocd/extension`;
  const env = {
    ...{ EXTENSION_NAME: 'berth', EXTENSION_URL: `${files}.tar.gz` },
    EXTENSION_CHECKSUM_URL: `${files}_checksums.txt`,
    // Argo CD starts without the extension while Berth does not answer.
    IGNORE_FAILURE: 'true',
  };
  const volumeMounts = [{ name: 'extensions', mountPath: '/tmp/extensions/' }];
  const installer = {
    ...{ name: 'extension-berth', image: INSTALLER, volumeMounts },
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
    securityContext: { runAsUser: 1000, allowPrivilegeEscalation: false },
  };
  const pod = {
    initContainers: [installer],
    containers: [{ name: 'argocd-server', volumeMounts }],
    volumes: [{ name: 'extensions', emptyDir: {} }],
  };
  return [
    labelled(inArgo('v1', 'Secret', secret, { stringData: { authorization: `Bearer ${token}` } })),
    inArgo('v1', 'ConfigMap', 'argocd-cmd-params-cm', { data: { 'server.enable.proxy.extension': 'true' } }),
    inArgo('v1', 'ConfigMap', 'argocd-cm', {
      data: { 'extension.config.berth': JSON.stringify({ services: [backend] }) },
    }),
    inArgo('apps/v1', 'Deployment', 'argocd-server', { spec: { template: { spec: pod } } }),
  ];
}

function objectsIn(namespace: string) {
  return (apiVersion: string, kind: string, name: string, rest: object): KubeObject => ({
    ...{ apiVersion, kind, metadata: { name, namespace } },
    ...rest,
  });
}

/** Argo CD reads only such Secrets. */
function labelled(secret: KubeObject): KubeObject {
  const labels = { 'app.kubernetes.io/part-of': 'argocd' };
  return { ...secret, metadata: { ...secret.metadata, labels } };
}

const INSTALLER = 'quay.io/argoprojlabs/argocd-extension-installer:v0.0.9';

/** Settings of the cluster decision resource generator for PlacementDecisions. */
export const DECISIONS_GENERATOR = {
  apiVersion: `${PLACEMENT_DECISION.group}/${PLACEMENT_DECISION.version}`,
  kind: PLACEMENT_DECISION.plural,
  statusListKey: 'decisions',
  matchKey: 'clusterName',
} as const;

export function secretName(name: string): string {
  return `${name}-plugin`;
}
