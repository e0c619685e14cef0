import { existsSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import path from 'node:path';
import { errorText, InputError } from '@berth/runtime/errors';
import { EXEC_API_VERSIONS, type ExecPluginConfig } from '../exec/exec-credential.ts';
import { parseProxyUrl } from '../proxy/proxy-address.ts';
import { KubeConfig } from './kube-config.ts';
import { type KubeCluster, type KubeConfigParts, type KubeUser, serverUrl } from './kubeconfig-entries.ts';
import { parseKubeconfig } from './parse-kubeconfig.ts';

/**
 * Where the address and the credentials of the API server come from: the first of `file`, `text` and `inCluster` that is given.
 * Without any of them: the files of KUBECONFIG, or ~/.kube/config if KUBECONFIG is not set; and if they declare no cluster, user
 * or context, the pod's service account.
 */
export interface KubeConfigSource {
  /** Path of a kubeconfig, which must exist. '' counts as absent. */
  readonly file?: string | undefined;
  /** Content of a kubeconfig. */
  readonly text?: string | undefined;
  /** Use the pod's service account. */
  readonly inCluster?: boolean | undefined;
  /** Name of a context. Absent or '': current-context of the kubeconfig. */
  readonly context?: string | undefined;
  /** Environment with KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST, HTTPS_PROXY, NO_PROXY; exec plugins get it. Absent: that of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/**
 * Loads the kubeconfig as kubectl does. Every command loads its kubeconfig with this function.
 * Source of the rules: kubernetes/client-go, tools/clientcmd/merged_client_builder.go (DeferredLoadingClientConfig).
 * @throws InputError `kubeconfig.invalid`, `kubeconfig.context` or `kubeconfig.unusable`
 */
export function loadKubeConfig(source: KubeConfigSource): KubeConfig {
  const subject = source.file || (source.inCluster === true ? 'in-cluster configuration' : 'kubeconfig');
  const parts = readParts(source, subject);
  const chosen = { ...parts, currentContext: source.context || parts.currentContext };
  requireUsable(chosen, subject);
  return new KubeConfig(chosen, source.env);
}

function readParts(source: KubeConfigSource, subject: string): KubeConfigParts {
  const { file, text, inCluster, env = process.env } = source;
  if (file) return readKubeconfig(file);
  if (text !== undefined) return wrapUnreadable(subject, () => parseKubeconfig(text, '.'));
  return inCluster === true ? readInCluster(env) : findParts(env);
}

const KUBECONFIG_HINT = 'give a kubeconfig file with --kubeconfig, or set KUBECONFIG';

function findParts(env: NodeJS.ProcessEnv): KubeConfigParts {
  const merged = mergeKubeconfigs(env);
  const isEmpty = [merged.clusters, merged.users, merged.contexts].every(({ length }) => length === 0);
  if (!isEmpty || merged.currentContext !== undefined) return merged;
  if (hasServiceAccountToken()) return readInCluster(env);
  throw new InputError(`was not found: ${whyNoFile(env)}, and ${whyNotInCluster(env)}`, {
    code: 'kubeconfig.invalid',
    subject: 'kubeconfig',
    hint: KUBECONFIG_HINT,
  });
}

function whyNoFile(env: NodeJS.ProcessEnv): string {
  const list = env['KUBECONFIG'];
  if (list) return `KUBECONFIG names no file with a cluster (got ${JSON.stringify(list)})`;
  const file = defaultKubeconfigFile(env);
  const exists = file !== undefined && existsSync(file);
  return `KUBECONFIG is not set, ~/.kube/config ${exists ? 'declares no cluster' : 'does not exist'}`;
}

function whyNotInCluster(env: NodeJS.ProcessEnv): string {
  if (!isInPod(env)) return 'this process does not run in a pod';
  return `the token of the pod's service account is not mounted (${SERVICE_ACCOUNT_TOKEN_FILE})`;
}

function readInCluster(env: NodeJS.ProcessEnv): KubeConfigParts {
  const subject = 'in-cluster configuration';
  const parts = wrapUnreadable(subject, () => inClusterConfig(env));
  if (hasServiceAccountToken()) return parts;
  throw new InputError(`cannot be used: ${whyNotInCluster(env)}`, {
    code: 'kubeconfig.invalid',
    subject,
    hint: `set automountServiceAccountToken: true in the pod's spec, or ${KUBECONFIG_HINT}`,
  });
}

function requireUsable({ currentContext, contexts, ...parts }: KubeConfigParts, subject: string): void {
  const contextNames = contexts.map(({ name }) => name);
  if (currentContext === undefined || !contextNames.includes(currentContext))
    throw new InputError(
      `has no ${currentContext === undefined ? 'current-context' : `context "${currentContext}"`}, ` +
        `expected one of: ${contextNames.join(', ') || '(none)'}`,
      { code: 'kubeconfig.context', subject },
    );
  const reasons = unusableReasons({ currentContext, contexts, ...parts }, currentContext);
  if (reasons.length > 0) throw new InputError(reasons.join('; '), { code: 'kubeconfig.unusable', subject });
}

/**
 * Merges the files that KUBECONFIG names, or else reads ~/.kube/config. The result is empty if there is no file.
 * Source of the rules: kubernetes/client-go, tools/clientcmd/loader.go (ClientConfigLoadingRules.Load).
 * @throws InputError when an existing file cannot be read, or is not a kubeconfig
 */
export function mergeKubeconfigs(env: NodeJS.ProcessEnv): KubeConfigParts {
  const all = filesToLoad(env).flatMap((file) => readIfThere(file) ?? []);
  return {
    // Look-ups return the first entry with a name. Later entries with the name are ignored completely.
    clusters: all.flatMap(({ clusters }) => clusters),
    users: all.flatMap(({ users }) => users),
    contexts: all.flatMap(({ contexts }) => contexts),
    currentContext: all.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
  };
}

/** ~/.kube/config is read only when KUBECONFIG is empty or not set, and not when none of the files in KUBECONFIG exist. */
function filesToLoad(env: NodeJS.ProcessEnv): readonly string[] {
  if (env['KUBECONFIG']) return env['KUBECONFIG'].split(path.delimiter).filter((file) => file !== '');
  const file = defaultKubeconfigFile(env);
  return file === undefined ? [] : [file];
}

/** The path of `~/.kube/config`; undefined if the environment names no home directory. */
function defaultKubeconfigFile(env: NodeJS.ProcessEnv): string | undefined {
  // Not os.homedir(), which throws in a pod whose user is not in the passwd file.
  const home = env['HOME'] ?? env['USERPROFILE'] ?? '';
  return home === '' ? undefined : path.join(home, '.kube', 'config');
}

/** Ignores only a file that does not exist, because an unreadable file may contain the first entry with a name. */
function readIfThere(file: string): KubeConfigParts | undefined {
  try {
    return readKubeconfig(file);
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly code?: unknown } };
    if (cause?.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** @throws InputError when the file cannot be read, or is not a kubeconfig */
function readKubeconfig(file: string): KubeConfigParts {
  return wrapUnreadable(file, () => parseKubeconfig(readFileSync(file, 'utf8'), path.dirname(file)));
}

/** @throws InputError `kubeconfig.invalid` when `read` throws */
function wrapUnreadable<T>(subject: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    // A YAML error continues with the surrounding lines, which may contain credentials.
    const [problem] = errorText(cause).split('\n', 1);
    throw new InputError(`cannot be read: ${problem}`, {
      code: 'kubeconfig.invalid',
      subject,
      hint: KUBECONFIG_HINT,
      cause,
    });
  }
}

/**
 * Why a context cannot be used, one sentence for each problem. Entries that the context does not use may be invalid.
 * The sentences contain names of fields, but never values, which may be credentials.
 * Source of the rules: kubernetes/client-go, tools/clientcmd/validation.go (ConfirmUsable) and transport/transport.go
 * (TLSConfigFor). Unlike there, a user that does not exist is refused (kubectl prompts for a name and a password), and
 * so is a server that is not a URL. Files are read only when they are needed. A context without a user sends anonymous
 * requests.
 */
function unusableReasons(parts: KubeConfigParts, contextName: string): readonly string[] {
  const context = parts.contexts.find(({ name }) => name === contextName);
  const cluster = parts.clusters.find(({ name }) => name === context?.cluster);
  const user = parts.users.find(({ name }) => name === context?.user);
  return [
    ...(context?.user && user === undefined ? [missingEntry(contextName, 'user', context.user)] : []),
    ...(context?.cluster && cluster === undefined
      ? [missingEntry(contextName, 'cluster', context.cluster)]
      : clusterProblems(cluster, contextName)),
    ...(user === undefined ? [] : userProblems(user)),
  ];
}

function missingEntry(contextName: string, kind: 'user' | 'cluster', name: string): string {
  return `context "${contextName}" names the ${kind} "${name}", which does not exist`;
}

function clusterProblems(cluster: KubeCluster | undefined, contextName: string): readonly string[] {
  const { name, server, caData, caFile, skipTLSVerify, proxyUrl } = cluster ?? { name: '' };
  const proxyProblem = proxyUrl === undefined ? undefined : parseProxyUrl(proxyUrl).problem;
  const problems: readonly (string | false)[] = [
    serverUrl(cluster) === undefined &&
      `context "${contextName}" needs a cluster with a server URL, got ${JSON.stringify(server || null)}`,
    both(caData, caFile) &&
      `cluster "${name}" has certificate-authority and certificate-authority-data, expected one of them`,
    skipTLSVerify === true &&
      Boolean(caData ?? caFile) &&
      `cluster "${name}" has a certificate authority and insecure-skip-tls-verify, expected one of them`,
    proxyProblem !== undefined && `cluster "${name}": proxy-url ${proxyProblem}`,
  ];
  return problems.filter((problem) => problem !== false);
}

function userProblems(user: KubeUser): readonly string[] {
  const { name, exec, authProvider } = user;
  const problems: readonly (string | false)[] = [
    hasPassword(user) &&
      Boolean(user.token ?? user.tokenFile) &&
      `user "${name}" has a token and a username or password, expected one of them`,
    ...certificateProblems(user),
    exec !== undefined &&
      authProvider !== undefined &&
      `user "${name}" has exec and auth-provider, expected one of them`,
    authProvider !== undefined && authProvider.name !== 'oidc' && removedProvider(name, authProvider.name),
    !user.impersonateUser &&
      (Boolean(user.impersonateUid) ||
        (user.impersonateGroups ?? []).length > 0 ||
        Object.keys(user.impersonateExtra ?? {}).length > 0) &&
      `user "${name}" has as-uid, as-groups or as-user-extra without as`,
  ];
  return [...problems.filter((problem) => problem !== false), ...(exec ? execProblems(name, exec) : [])];
}

function certificateProblems(user: KubeUser): readonly (string | false)[] {
  const { name, certData, certFile, keyData, keyFile } = user;
  if (!certData && !certFile) return [];
  return [
    both(certData, certFile) &&
      `user "${name}" has client-certificate and client-certificate-data, expected one of them`,
    both(keyData, keyFile) && `user "${name}" has client-key and client-key-data, expected one of them`,
    !keyData && !keyFile && `user "${name}" has a client certificate and no client-key`,
  ];
}

const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'];

function execProblems(name: string, exec: ExecPluginConfig): readonly string[] {
  const { command, apiVersion, interactiveMode, env } = exec;
  const versions = EXEC_API_VERSIONS.join(', ');
  const problems: readonly (string | false)[] = [
    command === '' && `user "${name}": exec has no command`,
    !EXEC_API_VERSIONS.includes(apiVersion) &&
      `user "${name}": exec has apiVersion ${JSON.stringify(apiVersion)}, expected one of: ${versions}`,
    env.some((variable) => variable.name === '') &&
      `user "${name}": exec has a variable in env without a name`,
    !INTERACTIVE_MODES.includes(interactiveMode) &&
      `user "${name}": exec has interactiveMode ${JSON.stringify(interactiveMode)}, ` +
        `expected one of: ${INTERACTIVE_MODES.join(', ')}`,
  ];
  return problems.filter((problem) => problem !== false);
}

function removedProvider(user: string, provider: string): string {
  return `user "${user}" has the auth-provider "${provider}", which Kubernetes no longer has: use an exec plugin`;
}

function hasPassword({ username, password }: KubeUser): boolean {
  return Boolean(username) || Boolean(password);
}

function both(a: string | undefined, b: string | undefined): boolean {
  return Boolean(a) && Boolean(b);
}

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
export const SERVICE_ACCOUNT_TOKEN_FILE = `${ACCOUNT}/token`;
const NAME = 'in-cluster';

/** Whether this process runs in a pod: the kubelet sets the address of the API server in every container. */
export function isInPod(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST']);
}

/** Whether this process runs in a pod into which the token of its service account is mounted. */
export function hasServiceAccountToken(): boolean {
  return existsSync(SERVICE_ACCOUNT_TOKEN_FILE);
}

/**
 * The API server of the cluster that this pod runs in, with the service account of the pod. The token is read when it
 * is needed, not here.
 * @throws Error if this process does not run in a pod
 */
export function inClusterConfig(env: NodeJS.ProcessEnv = process.env): KubeConfigParts {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (host === '') throw new Error('KUBERNETES_SERVICE_HOST is not set: this process does not run in a pod');
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return {
    clusters: [{ name: NAME, server, caFile: `${ACCOUNT}/ca.crt`, skipTLSVerify: false }],
    users: [{ name: NAME, tokenFile: SERVICE_ACCOUNT_TOKEN_FILE }],
    contexts: [{ name: NAME, cluster: NAME, user: NAME }],
    currentContext: NAME,
  };
}
