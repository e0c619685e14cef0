import { errorText, InputError, TransientError } from '../../core/errors.ts';
import { MANAGED_CLUSTER } from '../../core/model/kinds.ts';
import { readPrometheusAnswer, type SeriesOwner } from '../../core/scores/prometheus-answer.ts';
import type { ScoreQuery } from '../../core/scores/resource-usage-queries.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { sleep } from '../../runtime/sleep.ts';
import { type NamedScore, type ScoreWrite, writeScore } from './write-score.ts';

export interface QueriedScoreDuty extends Omit<ScoreWrite, 'clusterName'> {
  /** Queries the monitoring system. @returns its answer @throws when there is none */
  readonly ask: (query: string, signal: AbortSignal) => Promise<unknown>;
  /** By the name of the score. */
  readonly queries: ReadonlyMap<string, ScoreQuery>;
  readonly owner: SeriesOwner;
  /** The interval of the queries, plus a random 0 to 10 %. */
  readonly refreshMs: number;
  readonly random: () => number;
}

/**
 * Keeps scores up to date that a monitoring system computes: for one cluster, or for all clusters that a label names. A
 * cluster gets its scores only if every query returned a value for it. Otherwise its scores on the hub stay until they
 * expire.
 */
export async function provideQueriedScores(duty: QueriedScoreDuty, signal: AbortSignal): Promise<void> {
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

async function onePass(duty: QueriedScoreDuty, signal: AbortSignal): Promise<void> {
  const { owner, queries, log } = duty;
  const scores = new Map<string, NamedScore[]>();
  for (const [name, { query, scoreOf }] of queries) {
    const answer = readPrometheusAnswer(await duty.ask(query, signal), owner, scoreOf);
    if (answer.kind === 'problem')
      throw new InputError(answer.message, { code: 'scores.answer', subject: `query of score ${name}` });
    for (const [cluster, value] of answer.byCluster)
      scores.set(cluster, [...(scores.get(cluster) ?? []), { name, value }]);
  }
  const known = owner.kind === 'cluster' ? new Set([owner.name]) : await clustersOf(duty);
  const silent = [...known].filter((cluster) => scores.get(cluster)?.length !== queries.size);
  if (silent.length > 0)
    log.warn('a query returned nothing for some clusters, so their scores will expire', {
      clusters: silent.sort(),
    });
  const failures: string[] = [];
  for (const [clusterName, found] of scores) {
    if (!known.has(clusterName) || found.length !== queries.size || signal.aborted) continue;
    try {
      await writeScore({ ...duty, clusterName }, found);
    } catch (error) {
      // The failure of one cluster, whose namespace may be missing, does not delay the others.
      failures.push(`${clusterName}: ${errorText(error)}`);
    }
  }
  if (failures.length > 0)
    throw new TransientError(`were not written for ${failures.length} clusters, first ${failures[0]}`, {
      code: 'scores.write',
      subject: 'scores',
    });
}

async function clustersOf({ hub }: QueriedScoreDuty): Promise<ReadonlySet<string>> {
  const { items } = await hub.list(MANAGED_CLUSTER);
  return new Set(items.map(({ metadata }) => metadata.name));
}
