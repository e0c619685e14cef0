import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KnownSecret } from './cluster-secret.ts';

interface Trimmed {
  readonly cluster: Omit<KnownSecret, 'metadata'>;
}

/**
 * Reduces a cluster Secret to what decisions need, so that no credentials stay in memory.
 * @param digest of text
 * @param decode base64 to text
 */
export function trimClusterSecret(
  object: KubeObject,
  {
    digest,
    decode,
  }: { readonly digest: (text: string) => string; readonly decode: (base64: string) => string },
): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const data = (object['data'] ?? {}) as Readonly<Partial<Record<string, string>>>;
  const { name = '', server = '', config } = data;
  const cluster: Trimmed['cluster'] = {
    name: decode(name),
    server: withoutSlash(decode(server)),
    configDigest: config === undefined ? undefined : digest(decode(config)),
  };
  const { 'kubectl.kubernetes.io/last-applied-configuration': _content, ...annotations } =
    metadata.annotations ?? {};
  return { apiVersion, kind, metadata: { ...metadata, annotations }, cluster };
}

export function knownSecret(trimmed: KubeObject): KnownSecret {
  const { metadata, cluster } = trimmed as KubeObject & Trimmed;
  return { metadata, ...cluster };
}

/** Argo CD compares addresses without the trailing slash. */
export function withoutSlash(server: string): string {
  return server.replace(/\/+$/, '');
}
