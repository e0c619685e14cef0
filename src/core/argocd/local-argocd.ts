import {
  CONFIG_MAP,
  CUSTOM_RESOURCE_DEFINITION,
  type KindInfo,
  NAMESPACE,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { APP_PROJECT, APPLICATION, APPLICATION_SET } from './argocd-kinds.ts';
import { SECRET_TYPE_LABEL } from './cluster-secrets/cluster-secret.ts';

/** An object with its kind, so that it can be written. */
export interface KindedObject {
  readonly kind: KindInfo;
  readonly object: KubeObject;
}

/**
 * What Argo CD's programs need on a hub besides their kinds: the settings that they read, and a project that allows everything.
 * @param key signs sessions of argocd-server, which does not run; the programs want one all the same
 */
export function argoSettings(namespace: string, key: string): readonly KindedObject[] {
  const inArgo = (kind: KindInfo, name: string, rest: object = {}): KindedObject => {
    const labels = { 'app.kubernetes.io/part-of': 'argocd' };
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    return { kind, object: { apiVersion, kind: kind.kind, metadata: { name, namespace, labels }, ...rest } };
  };
  return [
    { kind: NAMESPACE, object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } },
    inArgo(CONFIG_MAP, 'argocd-cm'),
    inArgo(CONFIG_MAP, 'argocd-rbac-cm'),
    inArgo(SECRET, 'argocd-secret', { stringData: { 'server.secretkey': key } }),
    inArgo(APP_PROJECT, 'default', {
      spec: {
        sourceRepos: ['*'],
        destinations: [{ namespace: '*', server: '*' }],
        clusterResourceWhitelist: [{ group: '*', kind: '*' }],
      },
    }),
  ];
}

/** The kinds that Argo CD's programs watch. */
export const ARGO_KINDS: readonly KindInfo[] = [APPLICATION, APP_PROJECT, APPLICATION_SET];

/**
 * A definition of a kind of Argo CD that describes no fields. Argo CD's own definitions describe them; its programs do not need that.
 * Source of the columns: argo-cd 3.6 `manifests/crds`.
 */
export function openDefinition({ group, version, kind, plural }: KindInfo): KindedObject {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  // Argo CD sets the operation to null when it ends. An API server takes that away where the field is described.
  const properties = kind === APPLICATION.kind ? { operation: open } : {};
  const served = {
    name: version,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { ...open, properties } },
    ...(kind === APPLICATION.kind && {
      additionalPrinterColumns: [
        { name: 'Sync Status', type: 'string', jsonPath: '.status.sync.status' },
        { name: 'Health Status', type: 'string', jsonPath: '.status.health.status' },
      ],
    }),
    ...(kind === APPLICATION_SET.kind && { subresources: { status: {} } }),
  };
  const shortNames = SHORT_NAMES[kind] ?? [];
  const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List`, shortNames };
  const object = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names, versions: [served] },
  };
  return { kind: CUSTOM_RESOURCE_DEFINITION, object };
}

const SHORT_NAMES: Readonly<Record<string, readonly string[]>> = {
  Application: ['app', 'apps'],
  AppProject: ['appproj', 'appprojs'],
  ApplicationSet: ['appset', 'appsets'],
};

/** A member of an embedded hub, as the hub's kubeconfig names it. */
export interface KnownMember {
  readonly name: string;
  readonly server: string;
  /** Base64 of PEM. */
  readonly caData: string | undefined;
}

/** The Secret by which Argo CD knows a member. */
export function memberSecret(
  { name, server, caData }: KnownMember,
  namespace: string,
  token: string,
): KubeObject {
  const config = JSON.stringify({ bearerToken: token, tlsClientConfig: { caData } });
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `cluster-${name}`, namespace, labels: { [SECRET_TYPE_LABEL]: 'cluster' } },
    stringData: { name, server, config },
  };
}

/** A program to start, and where it says that it is ready. */
export interface ArgoProgram {
  /** Also the name of its log. */
  readonly name: string;
  readonly file: 'argocd' | 'redis-server';
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** It answers with 200 here once it is ready; undefined: it is ready at once. */
  readonly readyUrl?: string;
}

export interface ArgoPlace {
  readonly namespace: string;
  readonly kubeconfig: string;
  /** An empty folder for files of the programs. */
  readonly folder: string;
  /** ARGO_PORTS free ports. */
  readonly ports: readonly number[];
}

export const ARGO_PORTS = 7;

/**
 * Redis, the repository server, the application controller and the ApplicationSet controller of Argo CD 3.6, in the order of their start.
 * They listen on the loopback address, but for the metrics of the application controller, which has no flag for its address.
 * One file contains all of Argo CD; a variable says which program it is.
 */
export function argoPrograms(place: ArgoPlace): readonly ArgoProgram[] {
  const { namespace, kubeconfig, folder, ports } = place;
  const [redisPort = 0, repoPort = 0, repoMetrics = 0, controllerPort = 0, setsPort = 0, ...more] = ports;
  const local = (port: number): string => `127.0.0.1:${String(port)}`;
  const hub = ['--kubeconfig', kubeconfig, '--namespace', namespace];
  const argocd = (name: string, args: readonly string[], ready: string): ArgoProgram => ({
    ...{ name, file: 'argocd', args, readyUrl: `http://${ready}` },
    env: {
      ARGOCD_BINARY_NAME: name,
      ARGOCD_GPG_ENABLED: 'false',
      ARGOCD_TLS_DATA_PATH: folder,
      ARGOCD_SSH_DATA_PATH: folder,
      TMPDIR: folder,
      POD_NAME: 'argocd-0',
      // A half of the ApplicationSet controller reads this, and the other half the flag.
      KUBECONFIG: kubeconfig,
    },
  });
  return [
    {
      name: 'redis-server',
      file: 'redis-server',
      args: ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--dir', folder],
      env: {},
    },
    argocd(
      'argocd-repo-server',
      [
        ...['--address', '127.0.0.1', '--port', String(repoPort), '--redis', local(redisPort)],
        ...['--metrics-address', '127.0.0.1', '--metrics-port', String(repoMetrics)],
        // Since 3.6 it refuses to serve without TLS while it has a path of client certificates.
        ...['--disable-tls', '--client-ca-path', ''],
      ],
      `${local(repoMetrics)}/healthz`,
    ),
    argocd(
      'argocd-application-controller',
      [
        ...hub,
        ...['--redis', local(redisPort), '--repo-server', local(repoPort), '--repo-server-plaintext'],
        ...['--metrics-port', String(controllerPort)],
      ],
      `${local(controllerPort)}/healthz`,
    ),
    argocd(
      'argocd-applicationset-controller',
      [
        ...hub,
        ...['--enable-leader-election=false', '--metrics-addr', local(setsPort)],
        ...['--probe-addr', local(more[0] ?? 0), '--webhook-addr', local(more[1] ?? 0)],
        ...['--argocd-repo-server', local(repoPort), '--repo-server-plaintext'],
      ],
      `${local(setsPort)}/metrics`,
    ),
  ];
}
