import { KubeConfig } from '../../../adapters/kube/config/kube-config.ts';
import { parseKubeconfig } from '../../../adapters/kube/config/parse-kubeconfig.ts';
import type { CredentialFiles } from './credential-store.ts';

/** The server of the hub kubeconfig that is kept; undefined when there is none that can be read. */
export function storedHubServer(files: CredentialFiles, folder: string): string | undefined {
  try {
    const parts = parseKubeconfig(files.kubeconfig ?? '', folder);
    return new KubeConfig(parts).getCurrentCluster()?.server;
  } catch {
    return undefined;
  }
}
