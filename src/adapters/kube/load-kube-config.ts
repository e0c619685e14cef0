import { KubeConfig } from '@kubernetes/client-node';
import { errorText, InputError } from '../../core/errors.ts';

/** Where the address and the credentials come from. `{}`: KUBECONFIG, ~/.kube/config, then the pod's service account. */
export type KubeConfigSource = {
  readonly file?: string | undefined;
  readonly text?: string | undefined;
  readonly inCluster?: boolean | undefined;
  /** Name of a context; absent: current-context. */
  readonly context?: string | undefined;
};

/** @throws InputError when it cannot be read or names no usable cluster. */
export function loadKubeConfig(source: KubeConfigSource): KubeConfig {
  const config = new KubeConfig();
  const subject = source.file ?? (source.inCluster === true ? 'in-cluster configuration' : 'kubeconfig');
  try {
    if (source.text !== undefined) config.loadFromString(source.text);
    else if (source.file !== undefined) config.loadFromFile(source.file);
    else if (source.inCluster === true) config.loadFromCluster();
    else config.loadFromDefault();
  } catch (cause) {
    throw new InputError(`cannot be read: ${errorText(cause)}`, {
      code: 'kubeconfig.invalid',
      subject,
      hint: 'give a kubeconfig file with --kubeconfig, or set KUBECONFIG',
      cause,
    });
  }
  if (source.context !== undefined) config.setCurrentContext(source.context);
  requireCluster(config, subject);
  return config;
}

function requireCluster(config: KubeConfig, subject: string): void {
  const context = config.getCurrentContext();
  const known = (config.contexts ?? []).map((entry) => entry.name);
  if (config.getContextObject(context) === null)
    throw new InputError(`has no context "${context}", expected one of: ${known.join(', ') || '(none)'}`, {
      code: 'kubeconfig.context',
      subject,
    });
  const cluster = config.getCurrentCluster();
  if (cluster === null || !URL.canParse(cluster.server))
    throw new InputError(
      `context "${context}" needs a cluster with a server URL, got ${JSON.stringify(cluster?.server ?? null)}`,
      { code: 'kubeconfig.cluster', subject },
    );
}
