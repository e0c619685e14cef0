import type { KubeObject } from '../../model/object-meta.ts';

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
  /** After `berth`. */
  readonly args: readonly string[];
  readonly secrets: readonly SecretMount[];
  /** Folders that the process writes, and that are gone with its pod. */
  readonly folders: readonly { readonly volume: string; readonly path: string }[];
}

/** One pod of Berth: no rights on its node, nothing that it may write but the folders. Never two at once. */
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
