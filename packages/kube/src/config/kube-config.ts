import type { Clock } from '@berth/runtime/clock/clock';
import { ExecPlugin } from '../exec/exec-plugin.ts';
import type { ExecCluster, ExecCredential } from '../exec/exec-credential.ts';
import { chooseProxy } from '../proxy/choose-proxy.ts';
import type { ProxyAddress } from '../proxy/proxy-address.ts';
import type { TlsMaterial } from '../proxy/tls-material.ts';
import { authorizationOf, TlsMaterialReader } from './credential-files.ts';
import { type ImpersonatedUser, impersonatedBy } from './impersonation-headers.ts';
import type { KubeCluster, KubeConfigParts, KubeContext, KubeUser } from './kubeconfig-entries.ts';
import { oidcAuthorization } from './oidc-authorization.ts';
import { serverUrl } from './server-url.ts';

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
