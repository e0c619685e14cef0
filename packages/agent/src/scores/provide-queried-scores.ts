import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import { errorText, InputError, TransientError } from '@berth/runtime/errors';
import { boundedText } from '@berth/runtime/http/bounded-text';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep } from '@berth/runtime/loop/sleep';
import { readPrometheusResponse, type SeriesOwner } from '../rules/scores/prometheus-response.ts';
import type { ScoreQuery } from '../rules/scores/resource-usage-score.ts';
import { type NamedScore, type ScoreWrite, writeScore } from './write-score.ts';

export interface QueriedScoresOptions extends Omit<ScoreWrite, 'clusterName'> {
  /**
   * Queries the monitoring system.
   * @returns its response
   * @throws when it fails
   */
  readonly sendQuery: (query: string, signal: AbortSignal) => Promise<unknown>;
  /** By the name of the score. */
  readonly queries: ReadonlyMap<string, ScoreQuery>;
  readonly owner: SeriesOwner;
  /** Interval of queries, plus up to 10 % jitter. */
  readonly refreshMs: number;
  readonly random: () => number;
}

/**
 * Updates the scores of clusters from a monitoring system: of one cluster, or of all that a label
 * names. The scores of a cluster are written only if every query returns a value for it; otherwise
 * those on the hub stay until they expire.
 */
export async function provideQueriedScores(
  options: QueriedScoresOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log, refreshMs } = options;
  const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000 }, random);
  while (!signal.aborted) {
    let waitMs = refreshMs * (1 + 0.1 * random());
    try {
      await updateScores(options, signal);
      backoff.reset();
    } catch (error) {
      waitMs = Math.min(waitMs, backoff.nextMs());
      if (!signal.aborted) log.warn('scores cannot be written yet', { problem: errorText(error) });
    }
    await sleep(clock, waitMs, signal);
  }
}

async function updateScores(options: QueriedScoresOptions, signal: AbortSignal): Promise<void> {
  const { owner, queries, log } = options;
  const scores = new Map<string, NamedScore[]>();
  for (const [name, { query, scoreOf }] of queries) {
    const reading = readPrometheusResponse(await options.sendQuery(query, signal), owner, scoreOf);
    if (reading.kind === 'problem')
      throw new InputError(reading.message, { code: 'scores.answer', subject: `query of score ${name}` });
    for (const [cluster, value] of reading.byCluster)
      scores.set(cluster, [...(scores.get(cluster) ?? []), { name, value }]);
  }
  const known = owner.kind === 'cluster' ? new Set([owner.name]) : await clustersOf(options);
  const incomplete = [...known].filter((cluster) => scores.get(cluster)?.length !== queries.size);
  if (incomplete.length > 0)
    log.warn('a query returned no value for some clusters, so their scores will expire', {
      clusters: incomplete.sort(),
    });
  const failures: string[] = [];
  for (const [clusterName, found] of scores) {
    if (!known.has(clusterName) || found.length !== queries.size || signal.aborted) continue;
    try {
      await writeScore({ ...options, clusterName }, found);
    } catch (error) {
      // A failure for one cluster, e.g. a missing namespace, does not affect others.
      failures.push(`${clusterName}: ${errorText(error)}`);
    }
  }
  if (failures.length > 0)
    throw new TransientError(`were not written for ${failures.length} clusters, first ${failures[0]}`, {
      code: 'scores.write',
      subject: 'scores',
    });
}

async function clustersOf({ hub }: QueriedScoresOptions): Promise<ReadonlySet<string>> {
  const { items } = await hub.list(MANAGED_CLUSTER);
  return new Set(items.map(({ metadata }) => metadata.name));
}

const TIMEOUT_MS = 15_000;
/** Large enough for thousands of clusters with long labels. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

export interface PrometheusQuery {
  /** `https://HOST[:PORT][/PREFIX]` */
  readonly server: string;
  readonly query: string;
  /** Bearer token. */
  readonly token: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * One instant query. Source: https://prometheus.io/docs/prometheus/latest/querying/api/
 *
 * @returns the JSON of the response, also for refused queries
 * @throws TransientError when the server cannot be reached or is overloaded, InputError when it
 * denies access
 */
export async function queryPrometheus({ server, query, token, signal }: PrometheusQuery): Promise<unknown> {
  const details = { code: 'prometheus.unavailable', subject: server };
  let status: number;
  let text: string;
  try {
    const response = await fetch(`${server.replace(/\/+$/, '')}/api/v1/query`, {
      method: 'POST',
      headers: {
        'user-agent': 'berth',
        'content-type': 'application/x-www-form-urlencoded',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: new URLSearchParams({ query }).toString(),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    [status, text] = [response.status, await boundedText(response, MAX_RESPONSE_BYTES)];
  } catch (cause) {
    const why =
      cause instanceof Error && cause.cause !== undefined ? errorText(cause.cause) : errorText(cause);
    throw new TransientError(`cannot be queried: ${why}`, { ...details, cause });
  }
  if (status === 401 || status === 403)
    throw new InputError(`answered ${status}`, {
      code: 'prometheus.auth',
      subject: server,
      hint: 'check --prometheus-token-file and what the token may read',
    });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TransientError(`answered ${status} with something that is not JSON`, { ...details, cause });
  }
}
