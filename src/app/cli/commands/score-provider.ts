import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SeriesOwner } from '@berth/agent/rules/scores/prometheus-response';
import { resourceUsageQueries, type ScoreQuery } from '@berth/agent/rules/scores/resource-usage-score';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import type { Command } from 'commander';
import type { CliIo, ExitCode } from '../../terminal/cli-io.ts';
import { addLogFlags, type LogFlags, openLog } from '../flags/log-flags.ts';
import { oneOf, positiveDuration, wrongOption, wrongValue } from '../flags/option-values.ts';
import { type CliCommand, verbCommand } from './cli-command.ts';

const USAGE_EXAMPLES = `
Exit codes: 0 stopped by a signal, 1 error.

Examples:
  berth score-provider resource-usage --hub-kubeconfig hub.kubeconfig --kubeconfig cluster1.kubeconfig --cluster-name cluster1
  berth score-provider resource-usage --hub-kubeconfig hub.kubeconfig --cluster-name edge-7 --refresh 30s   # in a pod of the cluster
  berth score-provider resource-usage --hub-kubeconfig hub.kubeconfig --prometheus-url https://thanos.example.org \\
    --cluster-label cluster                                          # for all clusters, from kube-state-metrics
`;

/** `berth score-provider resource-usage`: unused CPU and memory as scores. */
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
      )
      .option('--from-zero', "score what is left from 0 to 100, as OCM's article does: left / most * 100");
    addScoreFlags(addPrometheusFlags(command), 'resource-usage-score')
      .addHelpText('after', USAGE_EXAMPLES)
      .action(run((io, flags: UsageFlags) => provideUsage(io, flags)));
  },
};

interface UsageFlags extends PrometheusFlags {
  readonly kubeconfig?: string;
  readonly measure: string;
  readonly fromZero?: true;
}

async function provideUsage(io: CliIo, flags: UsageFlags): Promise<ExitCode> {
  const { clusterName, kubeconfig } = flags;
  const lowest = flags.fromZero ? 0 : -100;
  const measure = oneOf('--measure', flags.measure, ['requests', 'metrics', 'auto'] as const);
  if (flags.prometheusUrl !== undefined) {
    if (kubeconfig !== undefined || measure !== 'requests')
      throw wrongOption(
        '--prometheus-url',
        'is where requests are read from, so --kubeconfig and --measure are not allowed with it',
      );
    await provideFromPrometheus(io, flags, (owner) => resourceUsageQueries(owner, lowest));
    return 0;
  }
  if (flags.clusterLabel !== undefined)
    throw wrongOption('--cluster-label', 'is a label of time series, so it needs --prometheus-url');
  if (!clusterName)
    throw wrongOption('--cluster-name', 'is missing, expected the name of the managed cluster');
  const { isInPod } = await import('@berth/kube/config/load-kube-config');
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
    await provideScores({ ...context, clusterName, cluster, measure, lowest }, io.signal);
  });
  return 0;
}

const QUERY_EXAMPLES = `
Exit codes: 0 stopped by a signal, 1 error.

Examples:
  berth score-provider prometheus --hub-kubeconfig hub.kubeconfig --prometheus-url https://thanos.example.org \\
    --cluster-label cluster --score 'latency=100 - 200 * max by (cluster) (probe_duration_seconds)'
  berth score-provider prometheus --hub-kubeconfig hub.kubeconfig --prometheus-url http://prometheus:9090 \\
    --cluster-name edge-7 --score 'free=200 * avg(1 - node_load1 / 100) - 100'
`;

/** `berth score-provider prometheus`: the results of queries as scores. */
export const scoreProviderPrometheusCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'score-provider', 'keep the scores of clusters up to date on a hub')
      .command('prometheus')
      .description('write scores that Prometheus computes, for one cluster or for many (runs until stopped)')
      .option('--score <name=promql...>', 'a score and its query: an instant vector, from -100 to 100')
      .option('--cluster-name <name>', 'the cluster, if all queries are about a single one');
    addScoreFlags(addPrometheusFlags(command), 'prometheus')
      .addHelpText('after', QUERY_EXAMPLES)
      .action(
        run(async (io, flags: QueryFlags) => {
          await provideFromPrometheus(io, flags, () => queriesOf(flags));
          return 0;
        }),
      );
  },
};

interface QueryFlags extends PrometheusFlags {
  readonly score?: readonly string[];
}

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

/** The Prometheus server, and the clusters to query. */
interface PrometheusFlags extends ScoreFlags {
  readonly prometheusUrl?: string;
  readonly prometheusTokenFile?: string;
  readonly clusterLabel?: string;
  readonly clusterName?: string;
}

function addPrometheusFlags(command: Command): Command {
  return command
    .option('--prometheus-url <url>', 'URL of Prometheus, or of a compatible server; without /api/v1')
    .option('--prometheus-token-file <file>', 'file with a bearer token; it is read for each query')
    .option('--cluster-label <label>', 'for many clusters: label of the time series that names the cluster');
}

/**
 * Keeps the scores of queries up to date until the process is stopped.
 * @throws InputError for an invalid flag
 */
async function provideFromPrometheus(
  io: CliIo,
  flags: PrometheusFlags,
  queriesOf: (owner: SeriesOwner) => ReadonlyMap<string, ScoreQuery>,
): Promise<void> {
  const { prometheusTokenFile: tokenFile } = flags;
  const server = serverOf(flags);
  const owner = ownerOf(flags);
  const queries = queriesOf(owner);
  const { queryPrometheus } = await import('@berth/agent/scores/provide-queried-scores');
  const { provideQueriedScores } = await import('@berth/agent/scores/provide-queried-scores');
  const token = (): string | undefined =>
    tokenFile === undefined ? undefined : readFileSync(resolve(io.cwd, tokenFile), 'utf8').trim();
  const sendQuery = (query: string, signal: AbortSignal): Promise<unknown> =>
    queryPrometheus({ server, query, token: token(), signal });
  await runScoreProvider(io, flags, async (context) => {
    const { hub, log } = context;
    log.info('score provider started', { hub: hub.server, prometheus: server, scores: [...queries.keys()] });
    await provideQueriedScores({ ...context, owner, queries, sendQuery }, io.signal);
  });
}

function serverOf({ prometheusUrl: url }: PrometheusFlags): string {
  if (url === undefined) throw wrongOption('--prometheus-url', 'is missing, expected the URL of Prometheus');
  if (!/^https?:\/\/[^\s?#@]+$/.test(url) || !URL.canParse(url))
    throw wrongValue('--prometheus-url', url, 'a URL such as https://prometheus.example.org');
  return url;
}

/** Valid label names, which queries contain unescaped. Source: Prometheus, "Data model", label names. */
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

function ownerOf({ clusterLabel: label, clusterName: name }: PrometheusFlags): SeriesOwner {
  if ((label === undefined) === (name === undefined))
    throw wrongOption(
      '--cluster-label',
      `got ${label === undefined ? 'neither' : 'both'}, expected either --cluster-label or --cluster-name`,
    );
  if (label === undefined) return { kind: 'cluster', name: name ?? '' };
  if (!LABEL.test(label)) throw wrongValue('--cluster-label', label, 'the name of a label of Prometheus');
  return { kind: 'label', label };
}

/** Common flags of score providers. */
interface ScoreFlags extends LogFlags {
  readonly hubKubeconfig?: string;
  readonly scoreName: string;
  readonly refresh: string;
  readonly validFor: string;
}

interface ScoreProviderContext {
  readonly hub: KubeApi;
  /** Creates the client of another kubeconfig. */
  readonly clientOf: (kubeconfig: string | undefined) => KubeApi;
  readonly scoreName: string;
  readonly refreshMs: number;
  readonly validMs: number;
  readonly clock: MonotonicClock;
  readonly random: () => number;
  readonly log: Logger;
}

/** @param scoreName the default name */
function addScoreFlags(command: Command, scoreName: string): Command {
  return addLogFlags(command)
    .option('--hub-kubeconfig <file>', 'kubeconfig of the hub')
    .option('--score-name <name>', 'name of the AddOnPlacementScore', scoreName)
    .option('--refresh <duration>', 'interval between scores, plus a random 0 to 10 %', '60s')
    .option('--valid-for <duration>', 'how long a score is valid; at least twice --refresh', '5m');
}

/**
 * Runs `provide` until the process is stopped, then closes the clients.
 * @throws InputError for an invalid flag
 */
async function runScoreProvider(
  io: CliIo,
  flags: ScoreFlags,
  provide: (context: ScoreProviderContext) => Promise<void>,
): Promise<void> {
  const { hubKubeconfig, scoreName } = flags;
  if (!hubKubeconfig)
    throw wrongOption('--hub-kubeconfig', 'is missing, expected the kubeconfig file of the hub');
  const refreshMs = positiveDuration('--refresh', flags.refresh);
  const validMs = positiveDuration('--valid-for', flags.validFor);
  if (validMs < 2 * refreshMs)
    throw wrongOption('--valid-for', 'is too short, expected at least twice --refresh');
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  const { AgentClients } = await import('@berth/agent/agent-clients');
  const log = await openLog(io, flags);
  const clients = new AgentClients({ env: io.env, clock, log });
  try {
    const clientOf = (kubeconfig: string | undefined): KubeApi => clients.of(kubeconfig).api;
    const hub = clientOf(hubKubeconfig);
    io.cutOff.addEventListener('abort', () => clients.close(), { once: true });
    await provide({ hub, clientOf, scoreName, refreshMs, validMs, clock, random: Math.random, log });
  } finally {
    clients.close();
  }
}
