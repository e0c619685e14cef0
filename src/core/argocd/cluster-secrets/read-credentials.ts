import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { withoutSlash } from './cluster-secret.ts';
import type { CredentialReading } from './plan-cluster-secrets.ts';

/** `data` of a Secret, decoded to text. */
export type SecretTexts = Readonly<Partial<Record<string, string>>>;

/** ManagedServiceAccount of authentication.open-cluster-management.io/v1beta1, as far as Berth reads it. */
export interface ServiceAccountStatus {
  readonly tokenSecretRef?: {
    readonly name?: string | undefined;
    readonly lastRefreshTimestamp?: string | undefined;
  } | null;
}

/**
 * The credentials of a ManagedServiceAccount: its token, at the first address of the cluster.
 * @param account name, for messages
 * @param secret the Secret with the token; undefined if there is none
 */
export function tokenCredentials(
  { metadata, spec }: ManagedCluster,
  account: string,
  secret: SecretTexts | undefined,
): CredentialReading {
  const [address] = (spec?.managedClusterClientConfigs ?? []).filter(({ url = '' }) => url !== '');
  if (address?.url === undefined)
    return missing(`ManagedCluster ${metadata.name} has no spec.managedClusterClientConfigs with a url`);
  const token = secret?.['token'] ?? '';
  if (token === '') return missing(`ManagedServiceAccount ${metadata.name}/${account} has no token yet`);
  const authority = secret?.['ca.crt'] ?? '';
  const caData = authority === '' ? address.caBundle : toBase64(authority);
  const tlsClientConfig = { insecure: false, ...(caData !== undefined && caData !== '' && { caData }) };
  return {
    kind: 'read',
    credentials: {
      server: withoutSlash(address.url),
      config: JSON.stringify({ bearerToken: token, tlsClientConfig }),
    },
  };
}

/**
 * The credentials from a Secret in the namespace of the cluster, with `server` and `config` in the format of Argo CD.
 */
export function givenCredentials(
  cluster: string,
  secretName: string,
  secret: SecretTexts | undefined,
): CredentialReading {
  const subject = `Secret ${cluster}/${secretName}`;
  if (secret === undefined)
    return missing(
      `${subject} does not exist: create it with server and config, or set spec.managedServiceAccountRef or createBlankClusterSecrets`,
    );
  const { server = '', config } = secret;
  if (server === '') return missing(`${subject} has no server`);
  if (config !== undefined && !isJsonObject(config))
    // One Secret that Argo CD cannot read makes every generator of clusters fail.
    return missing(`${subject}: config is not a JSON object`);
  return { kind: 'read', credentials: { server: withoutSlash(server), config } };
}

/** Name of the Secret with the credentials of a cluster, as in multicloud-integrations. */
export function givenSecretName(cluster: string): string {
  return `${cluster}-cluster-secret`;
}

function missing(why: string): CredentialReading {
  return { kind: 'missing', why };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** PEM certificates are ASCII. */
function toBase64(text: string): string {
  return btoa(text);
}
