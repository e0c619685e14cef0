import { existsSync } from 'node:fs';
import { InputError } from '@berth/runtime/errors';
import {
  hasServiceAccountToken,
  inClusterConfig,
  isInPod,
  SERVICE_ACCOUNT_TOKEN_FILE,
} from './in-cluster-config.ts';
import { KubeConfig } from './kube-config.ts';
import {
  defaultKubeconfigFile,
  KUBECONFIG_HINT,
  mergeKubeconfigs,
  readKubeconfig,
  wrapUnreadable,
} from './kubeconfig-files.ts';
import type { KubeConfigParts } from './kubeconfig-entries.ts';
import { parseKubeconfig } from './parse-kubeconfig.ts';
import { unusableReasons } from './unusable-reasons.ts';

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
