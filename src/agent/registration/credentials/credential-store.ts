/**
 * What an agent keeps between two lives, by the keys of OCM's Secret. A key that is absent is absent.
 * Source of the names: open-cluster-management.io/ocm `pkg/registration/register` (ClusterNameFile, AgentNameFile, KubeconfigFile) and
 * `register/csr` (TLSKeyFile, TLSCertFile).
 */
export type CredentialFiles = Readonly<Partial<Record<CredentialKey, string>>>;

export const CREDENTIAL_KEYS = [
  'tls.crt',
  'tls.key',
  'kubeconfig',
  'cluster-name',
  'agent-name',
  /** Ours: the key of a request that is open, so that a restart goes on with it. */
  'certificate-request.json',
] as const;

export type CredentialKey = (typeof CREDENTIAL_KEYS)[number];

/** Keeps the credentials of one agent at one hub: in a folder, or in a Secret of the cluster that the agent runs in. */
export interface CredentialStore {
  /** Where, for people. */
  readonly place: string;
  /** A folder that relative paths in the kubeconfig are relative to. */
  readonly folder: string;
  read(): Promise<CredentialFiles>;
  /** All of the changes or, after a crash, none; undefined removes a key. */
  write(changes: { readonly [Key in CredentialKey]?: string | undefined }): Promise<void>;
}
