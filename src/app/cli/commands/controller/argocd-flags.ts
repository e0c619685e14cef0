import type { Command } from 'commander';
import { isDnsSubdomain } from '@berth/kube/model/selector/label-syntax';
import type { ServeArgocdOptions } from '../../../settings/serve-options.ts';
import { wholeNumber, wrongOption, wrongValue } from '../../flags/option-values.ts';

/** Flags for what `berth serve` does for Argo CD. */
export interface ServeArgocdFlags {
  readonly argocdNamespace: string;
  readonly argocdRefresh: boolean;
  readonly argocdRefreshRate?: string;
  readonly argocdPluginConfigMap: readonly string[];
  readonly argocdWaves: boolean;
  readonly argocdClusterSecrets: boolean;
  readonly argocdClusterLabel?: readonly string[];
  readonly argocdPull: boolean;
  readonly argocdExtension: boolean;
}

export function addServeArgocdFlags(command: Command): Command {
  return command
    .option('--argocd-namespace <namespace>', 'namespace of Argo CD on the hub', 'argocd')
    .option(
      '--argocd-refresh',
      'when a decision is published, refresh the ApplicationSets that use it',
      false,
    )
    .option(
      '--argocd-refresh-rate <n>',
      'refreshes a second while Argo CD answers none; twice as many may be unanswered at a time (default: "10")',
    )
    .option(
      '--argocd-plugin-config-map <name...>',
      'ConfigMaps of the plugin generator whose baseUrl is this Berth; ConfigMaps with the same host are found without it',
      ['berth'],
    )
    .option(
      '--argocd-waves',
      'serve clusters in waves to ApplicationSets that ask for it, each wave when the previous one is healthy (docs/argocd.md); includes --argocd-refresh',
      false,
    )
    .option('--argocd-cluster-secrets', 'register in Argo CD the clusters that GitOpsClusters select', false)
    .option(
      '--argocd-cluster-label <key...>',
      'labels of ManagedClusters to copy to their Secrets in Argo CD: keys, or PREFIX*',
    )
    .option(
      '--argocd-pull',
      'run the pull model: deliver Applications of Argo CD to their clusters, and report their status (docs/argocd.md)',
      false,
    )
    .option(
      '--argocd-extension',
      'say in the pages of Argo CD why each Application is where it is (docs/argocd-extension.md)',
      false,
    );
}

/**
 * Undefined: Berth does nothing for Argo CD, which is the default.
 *
 * @throws InputError for flags that cannot be used
 */
export function argocdOptions(flags: ServeArgocdFlags): ServeArgocdOptions | undefined {
  const { argocdNamespace: namespace, argocdWaves: waves } = flags;
  const { argocdClusterSecrets: clusterSecrets, argocdPull: pull, argocdExtension: extension } = flags;
  // Waves need the refresh, so that Argo CD requests the new wave.
  const refresh = flags.argocdRefresh || waves;
  if (!isDnsSubdomain(namespace)) throw wrongValue('--argocd-namespace', namespace, 'a namespace');
  if (flags.argocdClusterLabel !== undefined && !clusterSecrets)
    throw wrongOption('--argocd-cluster-label', 'has no effect without --argocd-cluster-secrets');
  const { argocdRefreshRate: rate } = flags;
  if (rate !== undefined && !refresh)
    throw wrongOption('--argocd-refresh-rate', 'has no effect without --argocd-refresh');
  const refreshesPerSecond = rate === undefined ? undefined : wholeNumber('--argocd-refresh-rate', rate, 1);
  if (!refresh && !clusterSecrets && !pull && !extension) return undefined;
  return {
    namespace,
    refresh,
    waves,
    refreshesPerSecond,
    clusterSecrets,
    pull,
    extension,
    pluginConfigMaps: flags.argocdPluginConfigMap,
    clusterLabels: flags.argocdClusterLabel ?? [],
  };
}
