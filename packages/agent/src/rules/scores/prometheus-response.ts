import { getOwn, isObject, listAt, objectAt, textAt } from '@berth/runtime/json/json-value';

/** The result of a query per cluster. */
export type QueriedScores =
  | { readonly kind: 'scores'; readonly byCluster: ReadonlyMap<string, number> }
  | { readonly kind: 'problem'; readonly message: string };

/** How a series names its cluster: by a label, or all series of the response are about one cluster. */
export type SeriesOwner =
  | { readonly kind: 'label'; readonly label: string }
  | { readonly kind: 'cluster'; readonly name: string };

/**
 * Parses the response to an instant query. NaN and infinite values are dropped.
 * Source: https://prometheus.io/docs/prometheus/latest/querying/api/ (instant queries, instant vectors, scalars).
 *
 * @param scoreOf converts a value to a score; default: a whole number from −100 to 100, rounded towards zero
 */
export function readPrometheusResponse(
  response: unknown,
  owner: SeriesOwner,
  scoreOf: (value: number) => number = wholeScore,
): QueriedScores {
  if (!isObject(response)) return problem('the response is not a JSON object');
  if (response['status'] !== 'success')
    return problem(`the query failed: ${textAt(response, 'errorType')}: ${textAt(response, 'error')}`);
  const data = objectAt(response, 'data');
  const type = textAt(data, 'resultType');
  if (type !== 'vector')
    return problem(`the query is a ${type || 'result without a type'}, expected an instant vector`);
  const byCluster = new Map<string, number>();
  for (const series of listAt(data, 'result')) {
    if (!isObject(series)) return problem('a series of the response is not an object');
    const name =
      owner.kind === 'cluster' ? owner.name : labelOf(objectAt(series, 'metric') ?? {}, owner.label);
    if (name === undefined) continue;
    const value = Number(listAt(series, 'value')[1] ?? Number.NaN);
    if (byCluster.has(name)) return problem(`it has more than one series of cluster ${JSON.stringify(name)}`);
    byCluster.set(name, value);
  }
  return {
    kind: 'scores',
    byCluster: new Map(
      [...byCluster]
        .filter(([, value]) => Number.isFinite(value))
        .map(([name, value]) => [name, scoreOf(value)]),
    ),
  };
}

function labelOf(metric: Parameters<typeof getOwn>[0], label: string): string | undefined {
  const value = getOwn(metric, label);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function wholeScore(value: number): number {
  // Without a negative zero.
  return Math.trunc(Math.min(100, Math.max(-100, value))) + 0;
}

function problem(message: string): QueriedScores {
  return { kind: 'problem', message };
}
