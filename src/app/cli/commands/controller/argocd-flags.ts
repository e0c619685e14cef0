import type { Command } from 'commander';
import { isDnsSubdomain } from '../../../../core/model/selector/label-syntax.ts';
import type { ServeArgocdOptions } from '../../../settings/serve-options.ts';
import { wrongOption, wrongValue } from '../../flags/wrong-option.ts';

/** What `berth serve` does for Argo CD. */
export interface ArgocdFlags {
  readonly argocdNamespace: string;
  readonly argocdRefresh: boolean;
  readonly argocdPluginConfigMap: readonly string[];
  readonly argocdClusterSecrets: boolean;
  readonly argocdClusterLabel?: readonly string[];
  readonly argocdPull: boolean;
}

export function addArgocdFlags(command: Command): Command {
  return command
    .option('--argocd-namespace <namespace>', 'where Argo CD runs on the hub', 'argocd')
    .option(
      '--argocd-refresh',
      'when a decision is published, make the ApplicationSets that use it generate at once',
      false,
    )
    .option(
      '--argocd-plugin-config-map <name...>',
      'ConfigMaps of the plugin generator whose baseUrl is this Berth; others with the same host count as well',
      ['berth'],
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
export function argocdOptions(flags: ArgocdFlags): ServeArgocdOptions | undefined {
  const { argocdNamespace: namespace, argocdRefresh: refresh, argocdClusterSecrets: clusterSecrets } = flags;
  if (!isDnsSubdomain(namespace)) throw wrongValue('--argocd-namespace', namespace, 'a namespace');
  if (flags.argocdClusterLabel !== undefined && !clusterSecrets)
    throw wrongOption('--argocd-cluster-label', 'has no effect without --argocd-cluster-secrets');
  if (!refresh && !clusterSecrets) return undefined;
  return {
    namespace,
    refresh,
    clusterSecrets,
    pluginConfigMaps: flags.argocdPluginConfigMap,
    clusterLabels: flags.argocdClusterLabel ?? [],
  };
}
