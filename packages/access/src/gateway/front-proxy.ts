import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { TokenUser } from '@berth/kube/review-token';
import { readCertificate } from '@berth/kube/x509/certificate-fields';
import { readSubject } from '@berth/kube/x509/certificate-subject';

/** What an API server says of the requests that it forwards to the servers of aggregated APIs, in this ConfigMap of kube-system. */
export const AUTHENTICATION = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };

/** Whose certificate vouches for a user, and in which headers. */
export interface FrontProxy {
  readonly caPem: string;
  /** Common names; empty: all. */
  readonly allowedNames: readonly string[];
  /** Lower-case names of headers. */
  readonly userHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/**
 * Source: kubernetes `apiserver/pkg/server/options/authentication_dynamic_request_header.go`.
 * @returns undefined while the ConfigMap is missing or incomplete
 */
export function frontProxyOf(configMap: KubeObject | undefined): FrontProxy | undefined {
  const data = (configMap?.['data'] ?? {}) as Readonly<Record<string, string>>;
  const caPem = data['requestheader-client-ca-file'];
  if (!caPem) return undefined;
  const names = (key: string): readonly string[] =>
    listOf(data[`requestheader-${key}`]).map((name) => name.toLowerCase());
  return {
    caPem,
    allowedNames: listOf(data['requestheader-allowed-names']),
    userHeaders: names('username-headers'),
    groupHeaders: names('group-headers'),
    extraPrefixes: names('extra-headers-prefix'),
  };
}

function listOf(text = '[]'): readonly string[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

/**
 * Who sent a request, as the API server says.
 * @returns undefined if it did not come from there
 */
export function callerOf(
  { socket, headersDistinct }: IncomingMessage,
  proxy: FrontProxy,
): TokenUser | undefined {
  const secured = socket as TLSSocket;
  const certificate = secured.getPeerX509Certificate();
  if (!secured.authorized || certificate === undefined) return undefined;
  const fields = readCertificate(certificate.raw);
  const read = fields && readSubject(fields.subjectDer);
  const name = read?.kind === 'subject' ? read.subject.commonName : '';
  if (proxy.allowedNames.length > 0 && !proxy.allowedNames.includes(name)) return undefined;
  const all = (header: string): readonly string[] => headersDistinct[header] ?? [];
  const username = proxy.userHeaders.flatMap(all)[0];
  if (!username) return undefined;
  const extra = Object.keys(headersDistinct).flatMap((header) => {
    const prefix = proxy.extraPrefixes.find((one) => header.startsWith(one));
    return prefix === undefined ? [] : [[unescaped(header.slice(prefix.length)), all(header)] as const];
  });
  return { username, groups: proxy.groupHeaders.flatMap(all), extra: Object.fromEntries(extra) };
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** Whether a header says who somebody is. */
export function isOfFrontProxy(header: string, proxy: FrontProxy): boolean {
  return (
    [...proxy.userHeaders, ...proxy.groupHeaders].includes(header) ||
    proxy.extraPrefixes.some((prefix) => header.startsWith(prefix))
  );
}
