import type { ScoreQuery } from '@berth/agent/rules/scores/resource-usage-queries';
import {
  addPrometheusFlags,
  type PrometheusFlags,
  provideFromPrometheus,
} from '../flags/prometheus-flags.ts';
import { addScoreFlags } from '../flags/score-flags.ts';
import { wrongOption, wrongValue } from '../flags/wrong-option.ts';
import type { CliCommand } from './cli-command.ts';
import { verbCommand } from './verb-command.ts';

interface QueryFlags extends PrometheusFlags {
  readonly score?: readonly string[];
}

const EXAMPLES = `
Exit codes: 0 stopped by a signal, 1 error.

Examples:
  berth score-provider prometheus --hub-kubeconfig hub.kubeconfig --prometheus-url https://thanos.example.org \\
    --cluster-label cluster --score 'latency=100 - 200 * max by (cluster) (probe_duration_seconds)'
  berth score-provider prometheus --hub-kubeconfig hub.kubeconfig --prometheus-url http://prometheus:9090 \\
    --cluster-name edge-7 --score 'free=200 * avg(1 - node_load1 / 100) - 100'
`;

export const scoreProviderPrometheusCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'score-provider', 'keep the scores of clusters up to date on a hub')
      .command('prometheus')
      .description('write scores that Prometheus computes, for one cluster or for many (runs until stopped)')
      .option('--score <name=promql...>', 'a score and its query: an instant vector, from -100 to 100')
      .option('--cluster-name <name>', 'the cluster, if all queries are about a single one');
    addScoreFlags(addPrometheusFlags(command), 'prometheus')
      .addHelpText('after', EXAMPLES)
      .action(
        run(async (io, flags: QueryFlags) => {
          await provideFromPrometheus(io, flags, () => queriesOf(flags));
          return 0;
        }),
      );
  },
};

function queriesOf({ score = [] }: QueryFlags): ReadonlyMap<string, ScoreQuery> {
  const queries = new Map<string, ScoreQuery>();
  for (const text of score) {
    const [, name, query] = /^([A-Za-z][\w.-]*)=(.+)$/s.exec(text) ?? [];
    if (name === undefined || query === undefined || queries.has(name))
      throw wrongValue('--score', text, 'NAME=QUERY, with a different name for each');
    queries.set(name, { query });
  }
  if (queries.size === 0) throw wrongOption('--score', 'is missing, expected NAME=QUERY');
  return queries;
}
