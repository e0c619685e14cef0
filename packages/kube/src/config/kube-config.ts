import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import type { ExecCluster, ExecCredential } from '../exec/exec-credential.ts';
import { ExecPlugin } from '../exec/exec-plugin.ts';
import { chooseProxy } from '../proxy/choose-proxy.ts';
import { type ProxyAddress, basicAuthorization } from '../proxy/proxy-address.ts';
import { type TlsMaterial, isKeyPair } from '../proxy/tls-material.ts';
import { type ImpersonatedUser, impersonatedBy } from './impersonation-headers.ts';
import {
  type KubeCluster,
  type KubeConfigParts,
  type KubeContext,
  type KubeUser,
  type AuthProvider,
  serverUrl,
} from './kubeconfig-entries.ts';

/** The credentials of requests to the current cluster. */
export interface KubeCredentials {
  readonly tls: TlsMaterial;
  /** Value of the Authorization header. */
  readonly authorization: string | undefined;
  /** Milliseconds since the epoch; undefined: not known. */
  readonly expiresAtMs?: number | undefined;
  /** The output of the exec plugin, if the credentials come from one. */
  readonly pluginCredential?: ExecCredential | undefined;
}

export interface CredentialsOptions {
  readonly clock: Clock;
  /** The credentials that the server answered with 401. */
  readonly refused?: KubeCredentials | undefined;
  /** Aborts when nothing waits for the response any more. */
  readonly signal?: AbortSignal | undefined;
}

/** A kubeconfig, and the credentials for its current cluster. */
export class KubeConfig implements KubeConfigParts {
  readonly clusters: readonly KubeCluster[];
  readonly users: readonly KubeUser[];
  readonly contexts: readonly KubeContext[];
  readonly currentContext: string | undefined;
  readonly #env: NodeJS.ProcessEnv;
  readonly #files = new TlsMaterialReader();
  /** Shared by all connections that use this kubeconfig. */
  #plugin: ExecPlugin | undefined;

  /** @param env the environment of exec plugins, with the variables that set a proxy */
  constructor(parts: KubeConfigParts, env: NodeJS.ProcessEnv = process.env) {
    this.clusters = parts.clusters;
    this.users = parts.users;
    this.contexts = parts.contexts;
    this.currentContext = parts.currentContext;
    this.#env = env;
  }

  getCurrentCluster(): KubeCluster | undefined {
    const context = this.#context();
    return this.clusters.find(({ name }) => name === context?.cluster);
  }

  getCurrentUser(): KubeUser | undefined {
    const context = this.#context();
    return this.users.find(({ name }) => name === context?.user);
  }

  /** Ends in `/`. Undefined if the current context has no valid server. */
  serverUrl(): URL | undefined {
    return serverUrl(this.getCurrentCluster());
  }

  /** The proxy for connections to the current cluster. */
  proxy(): ProxyAddress | undefined {
    const url = this.serverUrl();
    return url && chooseProxy(url, this.getCurrentCluster()?.proxyUrl, this.#env);
  }

  /** The impersonated user, if the kubeconfig names one. */
  impersonated(): ImpersonatedUser | undefined {
    return impersonatedBy(this.getCurrentUser());
  }

  /**
   * Reads the files of the current context, and runs its plugin if necessary. A server without TLS gets no credentials.
   * A token takes precedence over a plugin and an identity provider.
   * Source of the rules: kubernetes/client-go, tools/clientcmd/client_config.go (ClientConfig), transport/round_trippers.go and
   * plugin/pkg/client/auth/exec/exec.go (UpdateTransportConfig).
   * @throws Error when a file cannot be read or is invalid; TransientError of an exec plugin
   */
  async credentials(options: CredentialsOptions): Promise<KubeCredentials> {
    if (this.serverUrl()?.protocol !== 'https:') return { tls: {}, authorization: undefined };
    const cluster = this.getCurrentCluster();
    const user = this.getCurrentUser();
    const tls = await this.#files.read(cluster, user);
    const authorization = await authorizationOf(user);
    if (authorization !== undefined || user === undefined) return { tls, authorization };
    if (user.exec !== undefined && tls.cert === undefined) return this.#fromPlugin(tls, user, options);
    return { tls, authorization: user.authProvider && (await oidcAuthorization(user.authProvider)) };
  }

  async #fromPlugin(tls: TlsMaterial, user: KubeUser, options: CredentialsOptions): Promise<KubeCredentials> {
    this.#plugin ??= this.#pluginOf(user);
    const printed = await this.#plugin?.credential({
      clock: options.clock,
      refused: options.refused?.pluginCredential,
      cluster: this.#clusterForPlugin(tls),
      signal: options.signal,
    });
    const { token, certificate: cert, key, expiresAtMs } = printed ?? {};
    return {
      tls: { ...tls, ...(cert !== undefined && key !== undefined && { cert, key }) },
      authorization: token === undefined ? undefined : `Bearer ${token}`,
      expiresAtMs,
      pluginCredential: printed,
    };
  }

  #pluginOf({ name, exec }: KubeUser): ExecPlugin | undefined {
    if (exec === undefined) return undefined;
    return new ExecPlugin({
      user: name,
      config: exec,
      env: this.#env,
      isTerminal: () => process.stdin.isTTY === true,
    });
  }

  #clusterForPlugin({ ca }: TlsMaterial): ExecCluster {
    const cluster = this.getCurrentCluster();
    return {
      server: cluster?.server ?? '',
      tlsServerName: cluster?.tlsServerName,
      insecureSkipTlsVerify: cluster?.skipTLSVerify,
      caData: ca,
      proxyUrl: cluster?.proxyUrl,
      disableCompression: cluster?.disableCompression,
      config: cluster?.execConfig,
    };
  }

  #context(): KubeContext | undefined {
    return this.contexts.find(({ name }) => name === this.currentContext);
  }
}

/**
 * Certificates and keys of a kubeconfig, read from their files with each call. Half-written files are an error: a
 * certificate is never used with the key of another one.
 * Source of the rules: kubernetes/client-go, transport/transport.go (TLSConfigFor, loadTLSFiles).
 */
class TlsMaterialReader {
  /** The last material that was read and is valid. */
  #checked: TlsMaterial | undefined;

  /**
   * @returns the same object while the files do not change
   * @throws Error that names the file or the field
   */
  async read(cluster: KubeCluster | undefined, user: KubeUser | undefined): Promise<TlsMaterial> {
    const hasCertificate = Boolean(user?.certData ?? user?.certFile);
    // In sequence, so that the error always names the first of several missing files.
    const ca = await fileOrData('certificate-authority', cluster?.caFile, cluster?.caData);
    const cert = await fileOrData('client-certificate', user?.certFile, user?.certData);
    // A key without a certificate is neither used nor read.
    const key = hasCertificate ? await fileOrData('client-key', user?.keyFile, user?.keyData) : undefined;
    const found: TlsMaterial = {
      ...(cluster?.skipTLSVerify === true && { rejectUnauthorized: false }),
      ...(cluster?.tlsServerName && { serverName: cluster.tlsServerName }),
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
    };
    if (this.#checked !== undefined && isDeepStrictEqual(found, this.#checked)) return this.#checked;
    if (ca !== undefined) requireCertificate(ca, cluster?.caFile);
    if (cert !== undefined && key !== undefined) requirePair(cert, key, user?.certFile);
    this.#checked = found;
    return found;
  }
}

/**
 * The Authorization header for a token, a token file, or a name with a password. A token file takes precedence over
 * `token`, which is used if the file cannot be read or is empty.
 * Source of the rule: kubernetes/client-go, transport/round_trippers.go (bearerAuthRoundTripper),
 * transport/token_source.go.
 * @throws Error when there is only a token file, and it cannot be read or is empty
 */
async function authorizationOf(user: KubeUser | undefined): Promise<string | undefined> {
  const token = await tokenOf(user);
  if (token !== undefined) return `Bearer ${token}`;
  if (!user?.username && !user?.password) return undefined;
  return basicAuthorization(user.username ?? '', user.password ?? '');
}

async function tokenOf(user: KubeUser | undefined): Promise<string | undefined> {
  const file = user?.tokenFile;
  if (file === undefined) return user?.token;
  try {
    const token = (await readFile(file, 'utf8')).trim();
    if (token === '') throw new Error(`the token file ${file} is empty`);
    return token;
  } catch (error) {
    if (user?.token) return user.token;
    throw error;
  }
}

async function fileOrData(
  field: string,
  file: string | undefined,
  data: string | undefined,
): Promise<Buffer | undefined> {
  if (data) return Buffer.from(data, 'base64');
  if (!file) return undefined;
  try {
    return await readFile(file);
  } catch (cause) {
    throw new Error(`${field}: ${errorText(cause)}`, { cause });
  }
}

/** OpenSSL ignores a text without certificates, and then no server is trusted. */
function requireCertificate(pem: Buffer, file: string | undefined): void {
  try {
    new X509Certificate(pem);
  } catch {
    throw new Error(`certificate-authority${fieldSuffix(file)} contains no PEM certificate`);
  }
}

function requirePair(cert: Buffer, key: Buffer, file: string | undefined): void {
  if (isKeyPair(cert, key)) return;
  throw new Error(`client-certificate${fieldSuffix(file)} and client-key are not PEM, or do not match`);
}

/** `-data` for inline data, otherwise the path of the file. */
function fieldSuffix(file: string | undefined): string {
  return file === undefined ? '-data' : ` ${file}`;
}

const providers = new WeakMap<AuthProvider, Promise<() => Promise<string | undefined>>>();

/**
 * The Authorization header of the identity provider `oidc`. client-node implements it: it caches the ID token, and
 * requests another one from the issuer when it has expired. It is imported on first use, because its 800 modules of
 * generated models would delay every start by a third of a second.
 * @throws Error of the issuer, or of the connection to it
 */
async function oidcAuthorization(provider: AuthProvider): Promise<string | undefined> {
  let known = providers.get(provider);
  if (known === undefined) {
    known = loadProvider(provider);
    providers.set(provider, known);
  }
  return (await known)();
}

async function loadProvider({ name, config }: AuthProvider): Promise<() => Promise<string | undefined>> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const client = new KubeConfig();
  client.loadFromClusterAndUser(
    { name, server: 'https://unused.invalid', skipTLSVerify: false },
    { name, authProvider: { name, config: { ...config } } },
  );
  return async () => {
    const options: RequestOptions = { headers: {} };
    await client.applyToHTTPSOptions(options);
    const { Authorization } = options.headers as { readonly Authorization?: string };
    return Authorization;
  };
}
