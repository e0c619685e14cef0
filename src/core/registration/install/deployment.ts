import type { KubeObject } from '@berth/kube/model/object-meta';

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
        readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
        resources: { requests },
        securityContext: CONTAINER_SECURITY,
        volumeMounts: mounts,
      },
    ],
    volumes,
  };
}
