import { InputError } from '../../../core/errors.ts';
import { inClusterConfig, isInCluster } from './in-cluster-config.ts';
import { KubeConfig, type KubeConfigParts } from './kube-config.ts';
import { KUBECONFIG_HINT, mergeKubeconfigs, orUnreadable, readKubeconfig } from './kubeconfig-files.ts';
import { parseKubeconfig } from './parse-kubeconfig.ts';

/**
 * Where the address and the credentials come from. The first that is given counts; an empty text counts as absent. `{}`: the files
 * of KUBECONFIG, else ~/.kube/config; where these hold nothing, the pod's service account.
 */
export interface KubeConfigSource {
  /** One file, which must exist. */
  readonly file?: string | undefined;
  readonly text?: string | undefined;
  readonly inCluster?: boolean | undefined;
  /** Name of a context; absent: current-context. */
  readonly context?: string | undefined;
  /** Where KUBECONFIG and HOME are looked up; absent: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/**
 * Loads the kubeconfig as kubectl does. Every command reads its kubeconfig here.
 * Source of the rules: kubernetes/client-go, tools/clientcmd/merged_client_builder.go (DeferredLoadingClientConfig).
 * @throws InputError when it cannot be read or names no usable cluster.
 */
export function loadKubeConfig(source: KubeConfigSource): KubeConfig {
  const subject = source.file || (source.inCluster === true ? 'in-cluster configuration' : 'kubeconfig');
  const parts = readParts(source, subject);
  const config = new KubeConfig({ ...parts, currentContext: source.context || parts.currentContext });
  requireCluster(config, subject);
  return config;
}

function readParts(source: KubeConfigSource, subject: string): KubeConfigParts {
  const { file, text, inCluster, env = process.env } = source;
  if (file) return readKubeconfig(file);
  if (text !== undefined) return orUnreadable(subject, () => parseKubeconfig(text, '.'));
  return inCluster === true ? orUnreadable(subject, () => inClusterConfig(env)) : findParts(env);
}

function findParts(env: NodeJS.ProcessEnv): KubeConfigParts {
  const found = mergeKubeconfigs(env);
  const isEmpty = [found.clusters, found.users, found.contexts].every(({ length }) => length === 0);
  if (!isEmpty || found.currentContext !== undefined) return found;
  if (isInCluster()) return orUnreadable('in-cluster configuration', () => inClusterConfig(env));
  const where = env['KUBECONFIG']
    ? `KUBECONFIG names no file with a cluster (got ${JSON.stringify(env['KUBECONFIG'])})`
    : 'KUBECONFIG is not set, there is no ~/.kube/config';
  throw new InputError(`is not there: ${where}, and this is no pod`, {
    code: 'kubeconfig.invalid',
    subject: 'kubeconfig',
    hint: KUBECONFIG_HINT,
  });
}

function requireCluster(config: KubeConfig, subject: string): void {
  const { currentContext, contexts } = config;
  const known = contexts.map(({ name }) => name);
  if (currentContext === undefined || !known.includes(currentContext))
    throw new InputError(
      `has no ${currentContext === undefined ? 'current-context' : `context "${currentContext}"`}, ` +
        `expected one of: ${known.join(', ') || '(none)'}`,
      { code: 'kubeconfig.context', subject },
    );
  const server = config.getCurrentCluster()?.server;
  if (server === undefined || !URL.canParse(server))
    throw new InputError(
      `context "${currentContext}" needs a cluster with a server URL, got ${JSON.stringify(server ?? null)}`,
      { code: 'kubeconfig.cluster', subject },
    );
}
