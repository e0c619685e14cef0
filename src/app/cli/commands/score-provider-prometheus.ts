import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SeriesOwner } from '../../../core/scores/prometheus-answer.ts';
import type { CliIo, ExitCode } from '../../terminal/cli-io.ts';
import { addScoreFlags, type ScoreFlags, withScoreDuty } from '../flags/score-flags.ts';
import { wrongOption, wrongValue } from '../flags/wrong-option.ts';
import type { CliCommand } from './cli-command.ts';
import { verbCommand } from './verb-command.ts';

interface PrometheusFlags extends ScoreFlags {
  readonly prometheusUrl?: string;
  readonly prometheusTokenFile?: string;
  readonly score?: readonly string[];
  readonly clusterLabel?: string;
  readonly clusterName?: string;
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
    const command = verbCommand(program, 'score-provider', 'keep the scores of a cluster current on its hub')
      .command('prometheus')
      .description('scores that Prometheus computes, of one cluster or of many (runs until stopped)')
      .option('--prometheus-url <url>', 'Prometheus, or what answers as it does; without /api/v1')
      .option('--prometheus-token-file <file>', 'bearer token; read for each question')
      .option('--score <name=promql...>', 'a score and its query: an instant vector, from -100 to 100')
      .option('--cluster-label <label>', 'label of the series that names the cluster, for many clusters')
      .option('--cluster-name <name>', 'the cluster that all queries are about, for one cluster');
    addScoreFlags(command, 'prometheus')
      .addHelpText('after', EXAMPLES)
      .action(run((io, flags: PrometheusFlags) => provide(io, flags)));
  },
};

async function provide(io: CliIo, flags: PrometheusFlags): Promise<ExitCode> {
  const { prometheusTokenFile: tokenFile } = flags;
  const server = serverOf(flags);
  const [owner, queries] = [ownerOf(flags), queriesOf(flags)];
  const { queryPrometheus } = await import('../../../adapters/http/query-prometheus.ts');
  const { provideQueriedScores } = await import('../../../agent/scores/provide-queried-scores.ts');
  const token = (): string | undefined =>
    tokenFile === undefined ? undefined : readFileSync(resolve(io.cwd, tokenFile), 'utf8').trim();
  const ask = (query: string, signal: AbortSignal): Promise<unknown> =>
    queryPrometheus({ server, query, token: token(), signal });
  await withScoreDuty(io, flags, async (duty) => {
    const { hub, log } = duty;
    log.info('score provider started', { hub: hub.server, prometheus: server, scores: [...queries.keys()] });
    await provideQueriedScores({ ...duty, owner, queries, ask }, io.signal);
  });
  return 0;
}

function serverOf({ prometheusUrl: url }: PrometheusFlags): string {
  if (url === undefined) throw wrongOption('--prometheus-url', 'is missing, expected the URL of Prometheus');
  if (!/^https?:\/\/[^\s?#@]+$/.test(url) || !URL.canParse(url))
    throw wrongValue('--prometheus-url', url, 'a URL such as https://prometheus.example.org');
  return url;
}

function ownerOf({ clusterLabel: label, clusterName: name }: PrometheusFlags): SeriesOwner {
  if ((label === undefined) === (name === undefined))
    throw wrongOption(
      '--cluster-label',
      `got ${label === undefined ? 'nothing' : 'it beside --cluster-name'}, expected either --cluster-label or --cluster-name`,
    );
  return label === undefined ? { kind: 'cluster', name: name ?? '' } : { kind: 'label', label };
}

function queriesOf({ score = [] }: PrometheusFlags): ReadonlyMap<string, string> {
  const queries = new Map<string, string>();
  for (const text of score) {
    const [, name, query] = /^([A-Za-z][\w.-]*)=(.+)$/s.exec(text) ?? [];
    if (name === undefined || query === undefined || queries.has(name))
      throw wrongValue('--score', text, 'NAME=QUERY, with another name for each');
    queries.set(name, query);
  }
  if (queries.size === 0) throw wrongOption('--score', 'is missing, expected NAME=QUERY');
  return queries;
}
