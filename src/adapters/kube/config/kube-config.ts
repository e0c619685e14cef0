import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import type { Cluster, Context, User } from '@kubernetes/client-node';

export interface KubeConfigParts {
  readonly clusters: readonly Cluster[];
  readonly users: readonly User[];
  readonly contexts: readonly Context[];
  /** Name of the context in use; undefined when the kubeconfig has no current-context. */
  readonly currentContext: string | undefined;
}

/**
 * A kubeconfig, and the TLS options and headers for requests to its current cluster. Certificates, tokens and token files are read
 * here. For exec plugins, auth providers, proxies and plain http, @kubernetes/client-node is imported on first use: its 800 modules
 * of generated models would delay every start by a third of a second.
 */
export class KubeConfig implements KubeConfigParts {
  readonly clusters: readonly Cluster[];
  readonly users: readonly User[];
  readonly contexts: readonly Context[];
  readonly currentContext: string | undefined;
  #plugins: ReturnType<typeof loadPlugins> | undefined;

  constructor({ clusters, users, contexts, currentContext }: KubeConfigParts) {
    this.clusters = clusters;
    this.users = users;
    this.contexts = contexts;
    this.currentContext = currentContext;
  }

  getCurrentCluster(): Cluster | undefined {
    const context = this.#context();
    return this.clusters.find(({ name }) => name === context?.cluster);
  }

  getCurrentUser(): User | undefined {
    const context = this.#context();
    return this.users.find(({ name }) => name === context?.user);
  }

  /**
   * TLS options, headers and agent for one request. Files are read with each call.
   * @throws Error when a file cannot be read, or a plugin fails
   */
  async credentials(): Promise<RequestOptions> {
    const cluster = this.getCurrentCluster();
    const user = this.getCurrentUser();
    if (usesNoPlugin(cluster, user)) return readCredentials(cluster, user);
    this.#plugins ??= loadPlugins(this);
    return (await this.#plugins)();
  }

  #context(): Context | undefined {
    return this.contexts.find(({ name }) => name === this.currentContext);
  }
}

function usesNoPlugin(cluster: Cluster | undefined, user: User | undefined): boolean {
  const usesPlugin = Boolean(user?.exec) || (Boolean(user?.authProvider) && tokenFileOf(user) === undefined);
  return cluster?.server.startsWith('https:') === true && !cluster.proxyUrl && !usesPlugin;
}

async function readCredentials(
  cluster: Cluster | undefined,
  user: User | undefined,
): Promise<RequestOptions> {
  const [ca, cert, key, token] = await Promise.all([
    fileOrData(cluster?.caFile, cluster?.caData),
    fileOrData(user?.certFile, user?.certData),
    fileOrData(user?.keyFile, user?.keyData),
    tokenOf(user),
  ]);
  return {
    ...(cluster?.skipTLSVerify === true && { rejectUnauthorized: false }),
    ...(cluster?.tlsServerName && { servername: cluster.tlsServerName }),
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(user?.username && { auth: `${user.username}:${user.password}` }),
    headers: {
      ...(user?.impersonateUser != null && { 'Impersonate-User': user.impersonateUser }),
      ...(token && { Authorization: `Bearer ${token}` }),
    },
  };
}

async function fileOrData(file: string | undefined, data: string | undefined): Promise<Buffer | undefined> {
  if (file) return readFile(file);
  return data ? Buffer.from(data, 'base64') : undefined;
}

/**
 * Reads the bearer token. A token file is read with each call, because the kubelet replaces a pod's token before it expires. It has
 * precedence over `token` of the kubeconfig, which is used when the file cannot be read.
 * Source of the rule: kubernetes/client-go, transport/round_trippers.go (bearerAuthRoundTripper).
 */
async function tokenOf(user: User | undefined): Promise<string | undefined> {
  const file = tokenFileOf(user);
  if (file === undefined) return user?.token;
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (user?.token) return user.token;
    throw error;
  }
}

function tokenFileOf(user: User | undefined): string | undefined {
  const { config } = (user?.authProvider ?? {}) as { readonly config?: { readonly tokenFile?: string } };
  return config?.tokenFile;
}

/** Loads client-node. The result is kept between requests, because plugins cache credentials until they expire. */
async function loadPlugins(parts: KubeConfigParts): Promise<() => Promise<RequestOptions>> {
  const { KubeConfig: ClientNodeKubeConfig } = await import('@kubernetes/client-node');
  const config = new ClientNodeKubeConfig();
  config.loadFromOptions(parts);
  return async () => {
    const options: RequestOptions = { headers: {} };
    await config.applyToHTTPSOptions(options);
    return options;
  };
}
