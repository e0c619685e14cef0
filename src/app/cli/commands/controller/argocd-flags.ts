import type { Command } from 'commander';
import { isDnsSubdomain } from '../../../../core/model/selector/label-syntax.ts';
import type { ServeArgocdOptions } from '../../../settings/serve-options.ts';
import { wholeNumber } from '../../flags/option-values.ts';
import { wrongOption, wrongValue } from '../../flags/wrong-option.ts';

/** What `berth serve` does for Argo CD. */
export interface ServeArgocdFlags {
  readonly argocdNamespace: string;
  readonly argocdRefresh: boolean;
  readonly argocdRefreshRate?: string;
  readonly argocdPluginConfigMap: readonly string[];
  readonly argocdWaves: boolean;
  readonly argocdClusterSecrets: boolean;
  readonly argocdClusterLabel?: readonly string[];
  readonly argocdPull: boolean;
}

export function addServeArgocdFlags(command: Command): Command {
  return command
    .option('--argocd-namespace <namespace>', 'where Argo CD runs on the hub', 'argocd')
    .option(
      '--argocd-refresh',
      'when a decision is published, refresh the ApplicationSets that use it',
      false,
    )
    .option(
      '--argocd-refresh-rate <n>',
      'ApplicationSets that are refreshed in a second at most, on average; twice as many at once (default: "10")',
    )
    .option(
      '--argocd-plugin-config-map <name...>',
      'ConfigMaps of the plugin generator whose baseUrl is this Berth; others with the same host count as well',
      ['berth'],
    )
    .option(
      '--argocd-waves',
      'serve ApplicationSets that ask for it in waves: one when the one before is healthy (docs/argocd.md); includes --argocd-refresh',
      false,
    )
    .option('--argocd-cluster-secrets', 'register the clusters that GitOpsClusters select in Argo CD', false)
    .option(
      '--argocd-cluster-label <key...>',
      'labels of ManagedClusters that their Secrets in Argo CD get: keys, or PREFIX*',
    )
    .option(
      '--argocd-pull',
      'bring Applications of Argo CD to the clusters that pull them, and their status back (docs/argocd.md)',
      false,
    );
}

/**
 * Undefined: Argo CD is left alone, which is the default.
 *
 * @throws InputError for flags that cannot be used
 */
export function argocdOptions(flags: ServeArgocdFlags): ServeArgocdOptions | undefined {
  const { argocdNamespace: namespace, argocdWaves: waves } = flags;
  const { argocdClusterSecrets: clusterSecrets, argocdPull: pull } = flags;
  // Waves need the refresh, so that Argo CD requests the new wave.
  const refresh = flags.argocdRefresh || waves;
  if (!isDnsSubdomain(namespace)) throw wrongValue('--argocd-namespace', namespace, 'a namespace');
  if (flags.argocdClusterLabel !== undefined && !clusterSecrets)
    throw wrongOption('--argocd-cluster-label', 'has no effect without --argocd-cluster-secrets');
  const { argocdRefreshRate: rate } = flags;
  if (rate !== undefined && !refresh)
    throw wrongOption('--argocd-refresh-rate', 'has no effect without --argocd-refresh');
  const refreshesPerSecond = rate === undefined ? undefined : wholeNumber('--argocd-refresh-rate', rate, 1);
  if (!refresh && !clusterSecrets && !pull) return undefined;
  return {
    namespace,
    refresh,
    waves,
    refreshesPerSecond,
    clusterSecrets,
    pull,
    pluginConfigMaps: flags.argocdPluginConfigMap,
    clusterLabels: flags.argocdClusterLabel ?? [],
  };
}
