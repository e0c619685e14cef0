import { parseProxyUrl } from '../proxy/proxy-address.ts';
import type { ExecPluginConfig } from '../exec/exec-plugin-config.ts';
import type { KubeCluster, KubeConfigParts, KubeUser } from './kubeconfig-entries.ts';
import { EXEC_API_VERSIONS } from '../exec/exec-credential.ts';
import { serverUrl } from './server-url.ts';

const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'];

/**
 * Why a context cannot be used, one sentence for each problem. Entries that the context does not use may be invalid.
 * The sentences contain names of fields, but never values, which may be credentials.
 * Source of the rules: kubernetes/client-go, tools/clientcmd/validation.go (ConfirmUsable) and transport/transport.go
 * (TLSConfigFor). Unlike there, a user that does not exist is refused (kubectl prompts for a name and a password), and
 * so is a server that is not a URL. Files are read only when they are needed. A context without a user sends anonymous
 * requests.
 */
export function unusableReasons(parts: KubeConfigParts, contextName: string): readonly string[] {
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
