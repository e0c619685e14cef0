import { X509Certificate } from 'node:crypto';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { InputError, TransientError } from '@berth/runtime/errors';
import { sha256 } from '@berth/runtime/sha256';
import yaml from 'js-yaml';
import type { ServerEntry } from '../../core/registration/install/bootstrap-objects.ts';

export interface HubLookup {
  readonly server: string;
  /** PEM. Absent: it is read from the hub. */
  readonly caPem?: string | undefined;
  /** Hashes of the keys of the accepted authorities, as `authorityHash` formats them. Empty: any authority is accepted. */
  readonly caHashes: readonly string[];
  readonly proxyUrl?: string | undefined;
  /** PEM. The authority of the proxy only. */
  readonly proxyCaPem?: string | undefined;
  /** Whether clusters use the address in `kube-public/cluster-info` of the hub. */
  readonly internal: boolean;
  /** Calls `use` with a client that sends the token of the cluster, and closes its connections afterwards. */
  readonly withHub: <T>(entry: ServerEntry, use: (hub: KubeApi) => Promise<T>) => Promise<T>;
  /** Requests a path from the hub without verifying its certificate. No token is sent. */
  readonly fetchUnverified: (path: string) => Promise<UnverifiedResponse>;
  /**
   * Called once if Berth accepts the authorities that the hub itself named, without a hash to
   * verify them.
   * @param hashes of their keys
   */
  readonly onUnverifiedAuthorities: (hashes: readonly string[]) => void;
}

/** What a server shows to an unauthenticated client. */
interface UnverifiedResponse {
  /** The certificates of its TLS handshake, DER. */
  readonly certificates: readonly Uint8Array[];
  /** The body of the response; undefined if there was none. */
  readonly text: string | undefined;
}

const NAMESPACE = 'kube-public';
const ROOT_CA = 'kube-root-ca.crt';
const CLUSTER_INFO = 'cluster-info';

/**
 * Finds out how clusters reach a hub whose address is given. Without a given authority, the authority is taken from the
 * hub, unless this machine trusts the certificate of the hub anyway. The token is sent only to a server with a
 * certificate of that authority. With a hash, that server is certainly the hub. Without one, a machine between the two
 * could name its own authority and would receive the token.
 * Source: open-cluster-management.io/clusteradm `pkg/helpers/client.go` and `pkg/cmd/join`; kubernetes/kubernetes
 * `cmd/kubeadm/app/discovery/token/token.go`.
 * @throws InputError `join.token` when the hub rejects the token; `join.authority` when it names no authority;
 *   `join.hash` when it names only authorities without one of the hashes; `join.cluster-info` when that ConfigMap names
 *   no server; the errors of the API
 */
export async function findHubEntry(lookup: HubLookup): Promise<ServerEntry> {
  const { server, proxyUrl } = lookup;
  const caPem = lookup.caPem === undefined ? await authorityOf(lookup) : pinned(lookup, lookup.caPem);
  const entry = withAuthorities({ server, proxyUrl }, caPem, lookup.proxyCaPem);
  if (!lookup.internal) {
    await readConfigMap(lookup, entry, ROOT_CA);
    return entry;
  }
  const text = (await readConfigMap(lookup, entry, CLUSTER_INFO))?.['kubeconfig'];
  const internal = text === undefined ? undefined : clusterIn(text);
  if (internal?.server !== undefined) return { ...entry, server: internal.server };
  throw new InputError(`names no server, expected a kubeconfig with the address that clusters use`, {
    code: 'join.cluster-info',
    subject: `ConfigMap ${NAMESPACE}/${CLUSTER_INFO}`,
    hint: 'without --force-internal-endpoint-lookup, Berth uses the address of --hub-apiserver',
  });
}

function withAuthorities(entry: ServerEntry, ...pems: readonly (string | undefined)[]): ServerEntry {
  const given = pems.filter((pem) => pem !== undefined).map((pem) => pem.trim());
  if (given.length === 0) return entry;
  return { ...entry, caData: Buffer.from(`${given.join('\n')}\n`).toString('base64') };
}

/** PEM; undefined if this machine trusts the hub and no hashes are given. */
async function authorityOf(lookup: HubLookup): Promise<string | undefined> {
  const { server, proxyUrl, proxyCaPem, caHashes, onUnverifiedAuthorities } = lookup;
  if (caHashes.length === 0)
    try {
      await readConfigMap(lookup, withAuthorities({ server, proxyUrl }, proxyCaPem), ROOT_CA);
      return undefined;
    } catch (error) {
      if (!(error instanceof TransientError)) throw error;
    }
  const { certificates, text } = await lookup.fetchUnverified(
    `/api/v1/namespaces/${NAMESPACE}/configmaps/${CLUSTER_INFO}`,
  );
  const named = authoritiesIn(text ?? '');
  const shown = [...named, ...certificatesOf(certificates)].filter(isAuthority);
  if (shown.length === 0)
    throw new InputError('does not show unauthenticated clients which authority signed its certificate', {
      code: 'join.authority',
      subject: server,
      hint: `give the authority with --ca-file; Berth looked for it in the TLS handshake and in the ConfigMap ${NAMESPACE}/${CLUSTER_INFO}`,
    });
  if (caHashes.length > 0) return pinned(lookup, shown.map(String).join(''));
  const taken = named.length > 0 ? named : shown;
  onUnverifiedAuthorities([...new Set(taken.map(authorityHash))]);
  return taken.map(String).join('');
}

/**
 * The authorities in a PEM text that have one of the hashes; all if no hashes are given.
 * @throws InputError when none has
 */
function pinned({ server, caHashes }: HubLookup, pem: string): string {
  if (caHashes.length === 0) return pem;
  const found = certificatesIn(pem).filter((one) => caHashes.includes(authorityHash(one)));
  if (found.length > 0) return found.map(String).join('');
  throw new InputError('no authority of the hub has this hash; the token was not sent', {
    code: 'join.hash',
    subject: '--discovery-token-ca-cert-hash',
    hint: `${server} has another authority than when the command was printed, or somebody intercepts the connection; berth get token prints a new command`,
  });
}

/** @param text a ConfigMap `cluster-info` as JSON; any other text gives no authorities */
function authoritiesIn(text: string): readonly X509Certificate[] {
  try {
    const { data } = JSON.parse(text) as { readonly data?: Texts };
    const ca = clusterIn(data?.['kubeconfig'] ?? '')?.['certificate-authority-data'] ?? '';
    return certificatesIn(Buffer.from(ca, 'base64').toString('utf8')).filter(isAuthority);
  } catch {
    return [];
  }
}

type Texts = Readonly<Record<string, string | undefined>>;

/** The data of a ConfigMap; undefined if it does not exist, or if the token has no right to read it. */
async function readConfigMap(
  lookup: HubLookup,
  entry: ServerEntry,
  name: string,
): Promise<Texts | undefined> {
  try {
    const key = { namespace: NAMESPACE, name };
    const found = await lookup.withHub(entry, (hub) => hub.get(CONFIG_MAP, key));
    return found?.['data'] as Texts | undefined;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // The hub accepts the token, but does not allow it to read ConfigMaps.
    if (error.code === 'kube.forbidden') return undefined;
    if (error.code !== 'kube.unauthorized') throw error;
    throw new InputError('the hub rejects the token', {
      code: 'join.token',
      subject: '--hub-token',
      hint: 'tokens expire after an hour; run berth get token on the hub to create another one',
      cause: error,
    });
  }
}

/** The first cluster of a kubeconfig, which may have no context. */
function clusterIn(text: string): Texts | undefined {
  const config = yaml.load(text, { schema: yaml.FAILSAFE_SCHEMA }) as {
    readonly clusters?: readonly { readonly cluster?: Texts }[];
  } | null;
  return config?.clusters?.[0]?.cluster;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates in a PEM text. Blocks that cannot be parsed are skipped. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  return (pem.match(CERTIFICATE) ?? []).flatMap((block) => readable(block));
}

/** Parses certificates in DER. Those that cannot be parsed are skipped. */
export function certificatesOf(ders: readonly Uint8Array[]): readonly X509Certificate[] {
  return ders.flatMap((der) => readable(der));
}

/** Whether the certificate may sign others. */
export function isAuthority(certificate: X509Certificate): boolean {
  return certificate.ca || certificate.issuer === certificate.subject;
}

/**
 * `sha256:` and the SHA-256 of the SubjectPublicKeyInfo (DER), in lower-case hexadecimal.
 * Source: kubernetes/kubernetes `cmd/kubeadm/app/util/pubkeypin/pubkeypin.go` (Hash).
 */
export function authorityHash({ publicKey }: X509Certificate): string {
  return `sha256:${sha256(publicKey.export({ type: 'spki', format: 'der' }))}`;
}

/** The hashes of the authorities in a PEM text, without duplicates. */
export function authorityHashes(pem: string): readonly string[] {
  return [...new Set(certificatesIn(pem).filter(isAuthority).map(authorityHash))];
}

function readable(certificate: string | Uint8Array): readonly X509Certificate[] {
  try {
    return [new X509Certificate(certificate)];
  } catch {
    return [];
  }
}
