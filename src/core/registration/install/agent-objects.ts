import type { KubeObject } from '@berth/kube/model/object-meta';
import { BOOTSTRAP_SECRET, CLUSTER_NAME_LABEL, HUB_KUBECONFIG_SECRET } from '@berth/ocm/registration/names';
import { deploymentOf } from './deployment.ts';

/** Name of the Deployment of the agent, on the managed cluster or on the cluster that hosts the agent. */
export const AGENT_DEPLOYMENT = 'klusterlet-agent';
/** In hosted mode: the Secret with the kubeconfig of the managed cluster. */
export const MANAGED_SECRET = 'external-managed-kubeconfig';
const HEALTH_PORT = 8_080;
const BOOTSTRAP_FOLDER = '/var/run/berth/bootstrap';
const MANAGED_FOLDER = '/var/run/berth/managed';

export interface AgentInstallation {
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
