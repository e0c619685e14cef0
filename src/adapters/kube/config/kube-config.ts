import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import type { Cluster, Context, User } from '@kubernetes/client-node';

export interface KubeConfigParts {
  readonly clusters: readonly Cluster[];
  readonly users: readonly User[];
  readonly contexts: readonly Context[];
  /** Name of the context in use; undefined: none was named. */
  readonly currentContext: string | undefined;
}

/**
 * A kubeconfig, and how to present oneself to its current cluster. What nearly all of them hold is read here: certificates, tokens,
 * a pod's service account. For the rest (exec plugins, auth providers, proxies, plain http) client-node is loaded when it is needed:
 * it comes with 800 modules of generated models, which cost every start a third of a second.
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

  /** TLS material, headers and agent for a request, from files as they are now. Throws what reading them or a plugin threw. */
  async credentials(): Promise<RequestOptions> {
    const cluster = this.getCurrentCluster();
    const user = this.getCurrentUser();
    if (isPlain(cluster, user)) return plainCredentials(cluster, user);
    this.#plugins ??= loadPlugins(this);
    return (await this.#plugins)();
  }

  #context(): Context | undefined {
    return this.contexts.find(({ name }) => name === this.currentContext);
  }
}

function isPlain(cluster: Cluster | undefined, user: User | undefined): boolean {
  const usesPlugin = Boolean(user?.exec) || (Boolean(user?.authProvider) && tokenFileOf(user) === undefined);
  return cluster?.server.startsWith('https:') === true && !cluster.proxyUrl && !usesPlugin;
}

async function plainCredentials(
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
 * A file is read each time: the kubelet renews a pod's token long before it expires. The file counts before a token in the
 * kubeconfig, which serves while the file cannot be read.
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

/** Kept: plugins remember what they were given until it expires. */
async function loadPlugins(parts: KubeConfigParts): Promise<() => Promise<RequestOptions>> {
  const { KubeConfig: WithPlugins } = await import('@kubernetes/client-node');
  const config = new WithPlugins();
  config.loadFromOptions(parts);
  return async () => {
    const options: RequestOptions = { headers: {} };
    await config.applyToHTTPSOptions(options);
    return options;
  };
}
