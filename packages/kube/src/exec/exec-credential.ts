import { CORE_SCHEMA, load } from 'js-yaml';
import { isKeyPair } from '../proxy/tls-material.ts';

const GROUP = 'client.authentication.k8s.io';

/** Versions of the plugin API, as kubeconfigs name them. */
export const EXEC_API_VERSIONS: readonly string[] = [`${GROUP}/v1`, `${GROUP}/v1beta1`];

/** The output of a plugin. */
export interface ExecCredential {
  readonly token: string | undefined;
  /** PEM. Both are present, or neither. */
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** Milliseconds since the epoch; undefined: valid until the server refuses it. */
  readonly expiresAtMs: number | undefined;
}

/**
 * The cluster information for a plugin with `provideClusterInfo`. Source: k8s.io/client-go,
 * pkg/apis/clientauthentication Cluster.
 */
export interface ExecCluster {
  readonly server: string;
  readonly tlsServerName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly caData?: Buffer | undefined;
  readonly proxyUrl?: string | undefined;
  readonly disableCompression?: boolean | undefined;
  readonly config?: unknown;
}

/** A program that prints credentials. Source: k8s.io/client-go, tools/clientcmd/api/v1 ExecConfig. */
export interface ExecPluginConfig {
  /** A name on the PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly apiVersion: string;
  readonly installHint: string;
  readonly provideClusterInfo: boolean;
  /** Never, IfAvailable or Always; anything else is refused when the user is used. */
  readonly interactiveMode: string;
}

/** The text of KUBERNETES_EXEC_INFO. */
export function renderExecInfo(
  { apiVersion, provideClusterInfo }: ExecPluginConfig,
  interactive: boolean,
  cluster: ExecCluster,
): string {
  const { server, tlsServerName, insecureSkipTlsVerify, caData, proxyUrl, disableCompression, config } =
    cluster;
  const given = {
    server,
    ...(tlsServerName && { 'tls-server-name': tlsServerName }),
    ...(insecureSkipTlsVerify === true && { 'insecure-skip-tls-verify': true }),
    ...(caData && { 'certificate-authority-data': caData.toString('base64') }),
    ...(proxyUrl && { 'proxy-url': proxyUrl }),
    ...(disableCompression === true && { 'disable-compression': true }),
    config: config ?? null,
  };
  return JSON.stringify({
    kind: 'ExecCredential',
    apiVersion,
    spec: { ...(provideClusterInfo && { cluster: given }), interactive },
  });
}

interface Printed {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly status?: Readonly<Record<string, unknown>> | null;
}

/**
 * Parses the output of a plugin.
 * Source of the rules: kubernetes/client-go, plugin/pkg/client/auth/exec/exec.go (refreshCredsLocked).
 * @throws Error that says what is wrong, without any part of the output except the API version
 */
export function parseExecCredential(printed: string, apiVersion: string): ExecCredential {
  const parsed = parseObject(printed) as Printed;
  if (parsed.kind !== 'ExecCredential' || typeof parsed.apiVersion !== 'string')
    throw new Error('printed an object that is not an ExecCredential');
  if (parsed.apiVersion !== apiVersion)
    throw new Error(
      `printed apiVersion ${JSON.stringify(parsed.apiVersion.slice(0, 80))}, expected "${apiVersion}" as in the kubeconfig`,
    );
  const { status } = parsed;
  if (typeof status !== 'object' || status === null) throw new Error('printed no status');
  const token = textOf(status, 'token');
  const certificate = textOf(status, 'clientCertificateData');
  const key = textOf(status, 'clientKeyData');
  if (token === undefined && certificate === undefined && key === undefined)
    throw new Error('printed neither a token nor a client certificate');
  if ((certificate === undefined) !== (key === undefined))
    throw new Error('printed only one of clientCertificateData and clientKeyData');
  if (certificate !== undefined && key !== undefined && !isKeyPair(certificate, key))
    throw new Error('printed a client certificate and a key that are not PEM, or do not match');
  return { token, certificate, key, expiresAtMs: timeOf(status) };
}

/** JSON or YAML. kubectl accepts both. */
function parseObject(text: string): object {
  try {
    const value = load(text, { schema: CORE_SCHEMA });
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The error of the parser would repeat the text.
  }
  throw new Error(text.trim() === '' ? 'printed nothing' : 'printed something that is not a JSON object');
}

function textOf(status: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const value = status[field] ?? '';
  if (typeof value !== 'string') throw new Error(`printed a status.${field} that is not text`);
  return value === '' ? undefined : value;
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

function timeOf({ expirationTimestamp }: Readonly<Record<string, unknown>>): number | undefined {
  if (expirationTimestamp === undefined || expirationTimestamp === null) return undefined;
  const text = typeof expirationTimestamp === 'string' ? expirationTimestamp : '';
  const timeMs = RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs))
    throw new Error('printed a status.expirationTimestamp that is not an RFC 3339 time');
  return timeMs;
}
