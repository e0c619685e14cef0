import type { KubeObject } from '@berth/kube/model/object-meta';
import { BOOTSTRAP_SECRET, CLUSTER_NAME_LABEL, HUB_KUBECONFIG_SECRET } from '@berth/ocm/registration/names';

/** A Secret that is mounted as a folder. */
export interface SecretMount {
  readonly volume: string;
  readonly secret: string;
  readonly path: string;
}

export interface ProcessDeployment {
  readonly namespace: string;
  readonly name: string;
  readonly account: string;
  readonly image: string;
  /** Arguments after `berth`. */
  readonly args: readonly string[];
  readonly secrets: readonly SecretMount[];
  /** Folders that the process writes. They are deleted with the pod. */
  readonly folders: readonly { readonly volume: string; readonly path: string }[];
  /** Where the process serves `/healthz` and `/readyz`. */
  readonly probes: { readonly port: number; readonly scheme: 'HTTP' | 'HTTPS' };
  /** What one process uses on a small fleet, so that the scheduler finds a node with room for it. */
  readonly requests: { readonly cpu: string; readonly memory: string };
}

/** The user of the image. ssh needs its entry in /etc/passwd. */
const USER = 65_532;

/** What the level `restricted` of Pod Security asks of a pod, and a root file system that nobody writes. */
export const POD_SECURITY = {
  runAsNonRoot: true,
  runAsUser: USER,
  runAsGroup: USER,
  fsGroup: USER,
  // Only the process may read its files. Without this, the kubelet gives the group access at every start.
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

export const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const;

/**
 * One pod of Berth, without rights on its node and with write access only to the folders. Never two pods at the same
 * time.
 */
export function deploymentOf(process: ProcessDeployment): KubeObject {
  const { namespace, name } = process;
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podOf(process) },
    },
  };
}

function podOf({ account, image, args, secrets, folders, probes, requests }: ProcessDeployment): object {
  const mounts = [
    ...folders.map(({ volume, path }) => ({ name: volume, mountPath: path })),
    ...secrets.map(({ volume, path }) => ({ name: volume, mountPath: path, readOnly: true })),
  ];
  const volumes = [
    ...folders.map(({ volume }) => ({ name: volume, emptyDir: {} })),
    ...secrets.map(({ volume, secret }) => ({
      name: volume,
      secret: { secretName: secret, defaultMode: 0o440 },
    })),
  ];
  const probe = (path: string) => ({ httpGet: { path, ...probes } });
  return {
    serviceAccountName: account,
    securityContext: POD_SECURITY,
    containers: [
      {
        name: 'berth',
        image,
        // An image that was loaded onto the nodes is in no registry.
        imagePullPolicy: 'IfNotPresent',
        args: [...args],
        ports: [{ name: 'http', containerPort: probes.port }],
        startupProbe: { ...probe('/healthz'), periodSeconds: 1, failureThreshold: 60 },
        livenessProbe: { ...probe('/healthz'), timeoutSeconds: 5 },
        // A pod that hangs leaves the Service after three failures.
        readinessProbe: { ...probe('/readyz'), periodSeconds: 2 },
        resources: { requests },
        securityContext: CONTAINER_SECURITY,
        volumeMounts: mounts,
      },
    ],
    volumes,
  };
}

/** Name of the Deployment of the agent, on the managed cluster or on the cluster that hosts the agent. */
export const AGENT_DEPLOYMENT = 'klusterlet-agent';
/** In hosted mode: the Secret with the kubeconfig of the managed cluster. */
export const MANAGED_SECRET = 'external-managed-kubeconfig';
const HEALTH_PORT = 8_080;
const BOOTSTRAP_FOLDER = '/var/run/berth/bootstrap';
const MANAGED_FOLDER = '/var/run/berth/managed';

interface AgentInstallation {
  readonly clusterName: string;
  /** The namespace of the agent's objects. */
  readonly namespace: string;
  readonly account: string;
  /** Base64 of the bootstrap kubeconfig. */
  readonly bootstrapKubeconfig: string;
  /** Base64 of the kubeconfig of the managed cluster. Absent if the agent runs on it. */
  readonly managedKubeconfig?: string | undefined;
  /** Arguments of `berth agent`, in addition to the paths of its kubeconfigs. */
  readonly options: readonly string[];
  /** Absent if the cluster has no node for a pod. */
  readonly image?: string | undefined;
}

/** The objects of an agent, except its namespace, its account and its rights. */
export function agentObjects(agent: AgentInstallation): readonly KubeObject[] {
  const { bootstrapKubeconfig, managedKubeconfig, image } = agent;
  return [
    secretOf(agent, BOOTSTRAP_SECRET, bootstrapKubeconfig),
    ...(managedKubeconfig === undefined ? [] : [secretOf(agent, MANAGED_SECRET, managedKubeconfig)]),
    ...(image === undefined ? [] : [agentPod(agent, image)]),
  ];
}

function secretOf({ namespace, clusterName }: AgentInstallation, name: string, base64: string): KubeObject {
  const labels = { [CLUSTER_NAME_LABEL]: clusterName };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels },
    type: 'Opaque',
    data: { kubeconfig: base64 },
  };
}

function agentPod(agent: AgentInstallation, image: string): KubeObject {
  const { namespace, account, clusterName, managedKubeconfig, options } = agent;
  const isHosted = managedKubeconfig !== undefined;
  return deploymentOf({
    namespace,
    name: AGENT_DEPLOYMENT,
    account,
    image,
    args: [
      'agent',
      `--cluster-name=${clusterName}`,
      `--health-listen=0.0.0.0:${HEALTH_PORT}`,
      `--bootstrap-kubeconfig=${BOOTSTRAP_FOLDER}/kubeconfig`,
      `--hub-kubeconfig-secret=${namespace}/${HUB_KUBECONFIG_SECRET}`,
      // The empty name means the cluster of the pod.
      ...(isHosted ? [`--kubeconfig=${MANAGED_FOLDER}/kubeconfig`, '--hosting-kubeconfig='] : []),
      ...options,
    ],
    secrets: [
      { volume: 'bootstrap', secret: BOOTSTRAP_SECRET, path: BOOTSTRAP_FOLDER },
      ...(isHosted ? [{ volume: 'managed', secret: MANAGED_SECRET, path: MANAGED_FOLDER }] : []),
    ],
    folders: [],
    probes: { port: HEALTH_PORT, scheme: 'HTTP' },
    requests: { cpu: '20m', memory: '128Mi' },
  });
}
