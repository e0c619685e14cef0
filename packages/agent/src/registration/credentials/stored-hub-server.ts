import { KubeConfig } from '@berth/kube/config/kube-config';
import { parseKubeconfig } from '@berth/kube/config/parse-kubeconfig';
import type { CredentialFiles } from './credential-store.ts';

/** The server in the stored hub kubeconfig; undefined if there is none, or it cannot be parsed. */
export function storedHubServer(files: CredentialFiles, folder: string): string | undefined {
  try {
    const parts = parseKubeconfig(files.kubeconfig ?? '', folder);
    return new KubeConfig(parts).getCurrentCluster()?.server;
  } catch {
    return undefined;
  }
}
