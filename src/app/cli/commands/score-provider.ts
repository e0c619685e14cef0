import { resourceUsageQueries } from '@berth/agent/rules/scores/resource-usage-queries';
import type { CliIo, ExitCode } from '../../terminal/cli-io.ts';
import { oneOf } from '../flags/option-values.ts';
import {
  addPrometheusFlags,
  type PrometheusFlags,
  provideFromPrometheus,
} from '../flags/prometheus-flags.ts';
import { addScoreFlags, runScoreProvider } from '../flags/score-flags.ts';
import { wrongOption } from '../flags/wrong-option.ts';
import type { CliCommand } from './cli-command.ts';
import { verbCommand } from './verb-command.ts';

interface UsageFlags extends PrometheusFlags {
  readonly kubeconfig?: string;
  readonly measure: string;
}

const EXAMPLES = `
Exit codes: 0 stopped by a signal, 1 error.

Examples:
  berth score-provider resource-usage --hub-kubeconfig hub.kubeconfig --kubeconfig cluster1.kubeconfig --cluster-name cluster1
  berth score-provider resource-usage --hub-kubeconfig hub.kubeconfig --cluster-name edge-7 --refresh 30s   # in a pod of the cluster
  berth score-provider resource-usage --hub-kubeconfig hub.kubeconfig --prometheus-url https://thanos.example.org \\
    --cluster-label cluster                                          # for all clusters, from kube-state-metrics
`;

export const scoreProviderCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'score-provider', 'keep the scores of clusters up to date on a hub')
      .command('resource-usage')
      .description('write unused CPU and memory as scores from -100 to 100 (runs until stopped)')
      .option(
        '--kubeconfig <file>',
        'kubeconfig of the managed cluster; may be left out only in one of its pods',
      )
      .option('--cluster-name <name>', 'name of the managed cluster: its namespace on the hub')
      .option(
        '--measure <what>',
        'what counts as used: requests (of pods), metrics (of metrics-server), auto (metrics if there are any)',
        'requests',
      );
    addScoreFlags(addPrometheusFlags(command), 'resource-usage-score')
      .addHelpText('after', EXAMPLES)
      .action(run((io, flags: UsageFlags) => provide(io, flags)));
  },
};

async function provide(io: CliIo, flags: UsageFlags): Promise<ExitCode> {
  const { clusterName, kubeconfig } = flags;
  const measure = oneOf('--measure', flags.measure, ['requests', 'metrics', 'auto'] as const);
  if (flags.prometheusUrl !== undefined) {
    if (kubeconfig !== undefined || measure !== 'requests')
      throw wrongOption(
        '--prometheus-url',
        'is where requests are read from, so --kubeconfig and --measure are not allowed with it',
      );
    await provideFromPrometheus(io, flags, resourceUsageQueries);
    return 0;
  }
  if (flags.clusterLabel !== undefined)
    throw wrongOption('--cluster-label', 'is a label of time series, so it needs --prometheus-url');
  if (!clusterName)
    throw wrongOption('--cluster-name', 'is missing, expected the name of the managed cluster');
  const { isInPod } = await import('@berth/kube/config/in-cluster-config');
  // The default kubeconfig of a person mostly names the hub, whose nodes would be scored as those of the cluster.
  if (!kubeconfig && !isInPod(io.env))
    throw wrongOption(
      '--kubeconfig',
      'is missing, expected the kubeconfig file of the managed cluster (it may be left out only in a pod of that cluster)',
    );
  const { provideScores } = await import('@berth/agent/scores/provide-scores');
  await runScoreProvider(io, flags, async ({ clientOf, ...context }) => {
    const cluster = clientOf(kubeconfig);
    context.log.info('score provider started', {
      cluster: clusterName,
      hub: context.hub.server,
      managed: cluster.server,
      measure,
    });
    await provideScores({ ...context, clusterName, cluster, measure }, io.signal);
  });
  return 0;
}
