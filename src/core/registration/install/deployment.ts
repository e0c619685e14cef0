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
}

/**
 * One pod of Berth, without rights on its node and with write access only to the folders. Never two pods at the same
 * time.
 */
export function deploymentOf(process: ProcessDeployment): KubeObject {
  const { namespace, name, account, image, args, secrets, folders } = process;
  const labels = { app: name };
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
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: account,
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, fsGroup: 65_532 },
          containers: [
            {
              name: 'berth',
              image,
              args: [...args],
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              volumeMounts: mounts,
            },
          ],
          volumes,
        },
      },
    },
  };
}
