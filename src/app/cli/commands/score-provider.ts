import type { CliIo, ExitCode } from '../../terminal/cli-io.ts';
import { addScoreFlags, type ScoreFlags, withScoreDuty } from '../flags/score-flags.ts';
import { wrongOption } from '../flags/wrong-option.ts';
import type { CliCommand } from './cli-command.ts';
import { verbCommand } from './verb-command.ts';

interface UsageFlags extends ScoreFlags {
  readonly kubeconfig?: string;
  readonly clusterName?: string;
}

const EXAMPLES = `
Exit codes: 0 stopped by a signal, 1 error.

Examples:
  berth score-provider resource-usage --hub-kubeconfig hub.kubeconfig --kubeconfig cluster1.kubeconfig --cluster-name cluster1
  berth score-provider resource-usage --hub-kubeconfig hub.kubeconfig --cluster-name edge-7 --refresh 30s   # in a pod of the cluster
`;

export const scoreProviderCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'score-provider', 'keep the scores of a cluster current on its hub')
      .command('resource-usage')
      .description('CPU and memory that pods have left, as scores from -100 to 100 (runs until stopped)')
      .option(
        '--kubeconfig <file>',
        'kubeconfig of the managed cluster (default: KUBECONFIG, ~/.kube/config, in-cluster)',
      )
      .option('--cluster-name <name>', 'name of the managed cluster: its namespace on the hub');
    addScoreFlags(command, 'resource-usage-score')
      .addHelpText('after', EXAMPLES)
      .action(run((io, flags: UsageFlags) => provide(io, flags)));
  },
};

async function provide(io: CliIo, flags: UsageFlags): Promise<ExitCode> {
  const { clusterName } = flags;
  if (!clusterName)
    throw wrongOption('--cluster-name', 'is missing, expected the name of the managed cluster');
  const { provideScores } = await import('../../../agent/scores/provide-scores.ts');
  await withScoreDuty(io, flags, async ({ clientOf, ...duty }) => {
    const cluster = clientOf(flags.kubeconfig);
    duty.log.info('score provider started', {
      cluster: clusterName,
      hub: duty.hub.server,
      managed: cluster.server,
    });
    await provideScores({ ...duty, clusterName, cluster }, io.signal);
  });
  return 0;
}
