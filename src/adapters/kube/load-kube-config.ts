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
    // A YAML error goes on with the lines around it, credentials among them.
    const [problem] = errorText(cause).split('\n', 1);
    throw new InputError(`cannot be read: ${problem}`, {
      code: 'kubeconfig.invalid',
      subject,
      hint: HINT,
      cause,
    });
  }
  if (isFallback(source, config))
    throw new InputError(
      'is not there: KUBECONFIG is not set, there is no ~/.kube/config, and this is no pod',
      {
        code: 'kubeconfig.invalid',
        subject,
        hint: HINT,
      },
    );
  if (source.context !== undefined) config.setCurrentContext(source.context);
  requireCluster(config, subject);
  return config;
}

const HINT = 'give a kubeconfig file with --kubeconfig, or set KUBECONFIG';

/** Where client-node finds nothing it makes up a cluster at an address that nobody asked for. */
function isFallback({ file, text, inCluster }: KubeConfigSource, config: KubeConfig): boolean {
  const isDefault = file === undefined && text === undefined && inCluster !== true;
  return (
    isDefault &&
    config.getCurrentContext() === 'loaded-context' &&
    config.getCurrentCluster()?.server === 'http://localhost:8080'
  );
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
