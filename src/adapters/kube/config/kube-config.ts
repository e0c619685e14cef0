import type { Clock } from '../../../core/ports.ts';
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

/** What requests to the current cluster are sent with. */
export interface KubeCredentials {
  readonly tls: TlsMaterial;
  /** Value of the Authorization header. */
  readonly authorization: string | undefined;
  /** Milliseconds since the epoch; undefined: not known. */
  readonly expiresAtMs?: number | undefined;
  /** The plugin that they come from printed this. */
  readonly ofPlugin?: ExecCredential | undefined;
}

export interface CredentialsOptions {
  readonly clock: Clock;
  /** What the server answered 401 to. */
  readonly refused?: KubeCredentials | undefined;
  /** Nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

/** A kubeconfig, and what requests to its current cluster are sent with. */
export class KubeConfig implements KubeConfigParts {
  readonly clusters: readonly KubeCluster[];
  readonly users: readonly KubeUser[];
  readonly contexts: readonly KubeContext[];
  readonly currentContext: string | undefined;
  readonly #env: NodeJS.ProcessEnv;
  readonly #files = new TlsMaterialReader();
  /** Shared by all connections that are made with this kubeconfig. */
  #plugin: ExecPlugin | undefined;

  /** @param env with the variables that name a proxy; exec plugins are started with it */
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

  /** Ends in `/`. Undefined when the current context leads to no server. */
  serverUrl(): URL | undefined {
    return serverUrl(this.getCurrentCluster());
  }

  /** The proxy on the way to the current cluster. */
  proxy(): ProxyAddress | undefined {
    const url = this.serverUrl();
    return url && chooseProxy(url, this.getCurrentCluster()?.proxyUrl, this.#env);
  }

  /** Whom requests act as, if the kubeconfig says so. */
  impersonated(): ImpersonatedUser | undefined {
    return impersonatedBy(this.getCurrentUser());
  }

  /**
   * Reads the files that the current context names, and runs its plugin when that is due. A server without TLS gets no credentials.
   * A token counts before a plugin and an identity provider.
   * Source of the rules: kubernetes/client-go, tools/clientcmd/client_config.go (ClientConfig), transport/round_trippers.go and
   * plugin/pkg/client/auth/exec/exec.go (UpdateTransportConfig).
   * @throws Error when a file cannot be read or holds something else; TransientError of an exec plugin
   */
  async credentials(wish: CredentialsOptions): Promise<KubeCredentials> {
    if (this.serverUrl()?.protocol !== 'https:') return { tls: {}, authorization: undefined };
    const cluster = this.getCurrentCluster();
    const user = this.getCurrentUser();
    const tls = await this.#files.read(cluster, user);
    const authorization = await authorizationOf(user);
    if (authorization !== undefined || user === undefined) return { tls, authorization };
    if (user.exec !== undefined && tls.cert === undefined) return this.#fromPlugin(tls, user, wish);
    return { tls, authorization: user.authProvider && (await oidcAuthorization(user.authProvider)) };
  }

  async #fromPlugin(tls: TlsMaterial, user: KubeUser, wish: CredentialsOptions): Promise<KubeCredentials> {
    this.#plugin ??= this.#pluginOf(user);
    const printed = await this.#plugin?.credential({
      clock: wish.clock,
      refused: wish.refused?.ofPlugin,
      cluster: this.#clusterForPlugin(tls),
      signal: wish.signal,
    });
    const { token, certificate: cert, key, expiresAtMs } = printed ?? {};
    return {
      tls: { ...tls, ...(cert !== undefined && key !== undefined && { cert, key }) },
      authorization: token === undefined ? undefined : `Bearer ${token}`,
      expiresAtMs,
      ofPlugin: printed,
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
