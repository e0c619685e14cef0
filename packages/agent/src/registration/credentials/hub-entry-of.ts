import type { KubeConfig } from '@berth/kube/config/kube-config';
import type { HubEntry } from '../../rules/registration/hub-entry.ts';

/** The address and authority of the hub in a kubeconfig. */
export function hubEntryOf(config: Pick<KubeConfig, 'getCurrentCluster'>): HubEntry {
  const { name, server, proxyUrl, caFile, caData, tlsServerName } = config.getCurrentCluster() ?? {
    name: '',
    server: '',
  };
  return { name, server, proxyUrl, caFile, caData, tlsServerName };
}
