import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { SeriesOwner } from '@berth/agent/rules/scores/prometheus-response';
import type { ScoreQuery } from '@berth/agent/rules/scores/resource-usage-queries';
import type { CliIo } from '../../terminal/cli-io.ts';
import { type ScoreFlags, runScoreProvider } from './score-flags.ts';
import { wrongOption, wrongValue } from './wrong-option.ts';

/** The Prometheus server, and the clusters to query. */
export interface PrometheusFlags extends ScoreFlags {
  readonly prometheusUrl?: string;
  readonly prometheusTokenFile?: string;
  readonly clusterLabel?: string;
  readonly clusterName?: string;
}

export function addPrometheusFlags(command: Command): Command {
  return command
    .option('--prometheus-url <url>', 'URL of Prometheus, or of a compatible server; without /api/v1')
    .option('--prometheus-token-file <file>', 'file with a bearer token; it is read for each query')
    .option('--cluster-label <label>', 'for many clusters: label of the time series that names the cluster');
}

/**
 * Keeps the scores of queries up to date until the process is stopped.
 * @throws InputError for an invalid flag
 */
export async function provideFromPrometheus(
  io: CliIo,
  flags: PrometheusFlags,
  queriesOf: (owner: SeriesOwner) => ReadonlyMap<string, ScoreQuery>,
): Promise<void> {
  const { prometheusTokenFile: tokenFile } = flags;
  const server = serverOf(flags);
  const owner = ownerOf(flags);
  const queries = queriesOf(owner);
  const { queryPrometheus } = await import('@berth/agent/scores/query-prometheus');
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

/**
 * Valid label names, which are used in queries unescaped. Source: Prometheus, "Data model", label
 * names.
 */
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
