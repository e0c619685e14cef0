import { errorText, InputError, TransientError } from '../../core/errors.ts';
import { MANAGED_CLUSTER } from '../../core/model/kinds.ts';
import { readPrometheusResponse, type SeriesOwner } from '../../core/scores/prometheus-response.ts';
import type { ScoreQuery } from '../../core/scores/resource-usage-queries.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { sleep } from '../../runtime/sleep.ts';
import { type NamedScore, type ScoreWrite, writeScore } from './write-score.ts';

export interface QueriedScoresOptions extends Omit<ScoreWrite, 'clusterName'> {
  /**
   * Queries the monitoring system.
   * @returns its response
   * @throws when it fails
   */
  readonly ask: (query: string, signal: AbortSignal) => Promise<unknown>;
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
export async function provideQueriedScores(duty: QueriedScoresOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, log, refreshMs } = duty;
  const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000 }, random);
  while (!signal.aborted) {
    let waitMs = refreshMs * (1 + 0.1 * random());
    try {
      await onePass(duty, signal);
      backoff.reset();
    } catch (error) {
      waitMs = Math.min(waitMs, backoff.nextMs());
      if (!signal.aborted) log.warn('scores cannot be written yet', { problem: errorText(error) });
    }
    await sleep(clock, waitMs, signal);
  }
}

async function onePass(duty: QueriedScoresOptions, signal: AbortSignal): Promise<void> {
  const { owner, queries, log } = duty;
  const scores = new Map<string, NamedScore[]>();
  for (const [name, { query, scoreOf }] of queries) {
    const answer = readPrometheusResponse(await duty.ask(query, signal), owner, scoreOf);
    if (answer.kind === 'problem')
      throw new InputError(answer.message, { code: 'scores.answer', subject: `query of score ${name}` });
    for (const [cluster, value] of answer.byCluster)
      scores.set(cluster, [...(scores.get(cluster) ?? []), { name, value }]);
  }
  const known = owner.kind === 'cluster' ? new Set([owner.name]) : await clustersOf(duty);
  const silent = [...known].filter((cluster) => scores.get(cluster)?.length !== queries.size);
  if (silent.length > 0)
    log.warn('a query returned no value for clusters: their scores will expire', { clusters: silent.sort() });
  const failures: string[] = [];
  for (const [clusterName, found] of scores) {
    if (!known.has(clusterName) || found.length !== queries.size || signal.aborted) continue;
    try {
      await writeScore({ ...duty, clusterName }, found);
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
