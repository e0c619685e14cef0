import type { KubeConfig } from '@berth/kube/config/kube-config';
import type { HubEntry } from '../../rules/registration/hub-entry.ts';

/**
 * The files that an agent keeps between restarts, by the keys of OCM's Secret. A missing key is absent.
 * Source of the names: open-cluster-management.io/ocm `pkg/registration/register` (ClusterNameFile, AgentNameFile,
 * KubeconfigFile) and `register/csr` (TLSKeyFile, TLSCertFile).
 */
export type CredentialFiles = Readonly<Partial<Record<CredentialKey, string>>>;

export const CREDENTIAL_KEYS = [
  'tls.crt',
  'tls.key',
  'kubeconfig',
  'cluster-name',
  'agent-name',
  /** Only used by Berth: the key of an open request, so that the agent continues with it after a restart. */
  'certificate-request.json',
  /** Only used by Berth: the Secrets that the agent made for add-ons, and the keys of their open requests. */
  'addon-secrets.json',
  /** Only used by Berth: digest of the last bootstrap credentials that the agent saw while the hub had the cluster. */
  'bootstrap-digest',
] as const;

export type CredentialKey = (typeof CREDENTIAL_KEYS)[number];

/** Stores the credentials of one agent for one hub: in a folder, or in a Secret of the cluster that the agent runs in. */
export interface CredentialStore {
  /** The place, for messages. */
  readonly place: string;
  /** The folder that relative paths in the kubeconfig are based on. */
  readonly folder: string;
  read(): Promise<CredentialFiles>;
  /** Writes all changes or, after a crash, none. Undefined removes a key. */
  write(changes: { readonly [Key in CredentialKey]?: string | undefined }): Promise<void>;
}

/** The address and authority of the hub in a kubeconfig. */
export function hubEntryOf(config: Pick<KubeConfig, 'getCurrentCluster'>): HubEntry {
  const { name, server, proxyUrl, caFile, caData, tlsServerName } = config.getCurrentCluster() ?? {
    name: '',
    server: '',
  };
  return { name, server, proxyUrl, caFile, caData, tlsServerName };
}
