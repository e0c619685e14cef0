import { clusterFacts, type ClusterFacts, FACT_MAPS, type Facts } from './cluster-facts.ts';
import { normalizedName } from './normalized-name.ts';
import type { PluginRequest } from './plugin-request.ts';
import type { PluginPlacement, PluginSource } from './plugin-source.ts';

/**
 * The parameters of one cluster, which ApplicationSet templates use. docs/argocd.md describes them. Every scalar is a string,
 * because Argo CD formats numbers as floats, and the items of one answer have the same keys.
 */
export interface PluginParameters {
  readonly [key: string]: string | PluginParameters;
}

/**
 * Renders one item for each decided cluster of the placement, sorted by cluster name. With `request.group`, only the clusters of
 * that decision group.
 */
export function renderParameters(
  request: PluginRequest,
  placement: PluginPlacement,
  source: PluginSource,
): readonly PluginParameters[] {
  const items = placement.groups
    .filter((group) => request.group === undefined || group.name === request.group)
    .flatMap((group) =>
      group.decisions.map((decision) => ({
        group,
        decision,
        facts: clusterFacts(source.cluster(decision.clusterName), source.scores(decision.clusterName)),
      })),
    )
    .map((item, position) => ({ ...item, rank: position + 1 }))
    .sort((a, b) => compare(a.decision.clusterName, b.decision.clusterName));
  const mapsOf = mapRenderer(
    request,
    items.map(({ facts }) => facts),
  );
  const ofPlacement = placementParameters(request, placement);
  return items
    .map(({ group, decision, facts, rank }): PluginParameters => {
      const { clusterName: name, reason, score } = decision;
      return {
        name,
        clusterName: name,
        nameNormalized: normalizedName(name),
        server: facts.server,
        version: facts.version,
        clusterSet: facts.clusterSet,
        ...ofPlacement,
        group: group.name,
        groupIndex: String(group.index),
        wave: `w${group.index}`,
        rank: String(rank),
        score: score === undefined ? '' : String(score),
        reason: reason ?? '',
        ...mapsOf(facts),
      };
    })
    .map((item) => (request.as === undefined ? item : below(request.as, item, request.flat)));
}

function placementParameters(
  { placement }: PluginRequest,
  { decisionId, commit }: PluginPlacement,
): PluginParameters {
  const [namespace = '', placementName = ''] = placement.split('/');
  return { placement, placementName, namespace, decisionId, commit };
}

/** The maps of one cluster, with the keys of all clusters: as maps, or with dots in the keys. */
function mapRenderer(
  { keys, flat }: PluginRequest,
  all: readonly ClusterFacts[],
): (facts: ClusterFacts) => PluginParameters {
  const wanted = FACT_MAPS.map((map) => ({
    map,
    keys: unionOfKeys(
      keys[map],
      all.map(({ maps }) => maps[map]),
    ),
  }));
  const scores = scoreKeys(keys.scores, all);
  const render = ({ maps, scores: found }: ClusterFacts): PluginParameters => {
    const nested: [string, PluginParameters][] = wanted.map(({ map, keys: inMap }) => [
      map,
      valuesByKey(inMap, maps[map]),
    ]);
    const ofScores = scores.map(([resource, names]): [string, PluginParameters] => [
      resource,
      valuesByKey(names, found.get(resource)),
    ]);
    nested.push(['scores', Object.fromEntries(ofScores)]);
    return flat ? flattened(nested) : Object.fromEntries(nested);
  };
  const asked = JSON.stringify([wanted, scores, flat]);
  return (facts) => {
    const before = rendered.get(facts);
    if (before?.asked === asked) return before.maps;
    const maps = render(facts);
    rendered.set(facts, { asked, maps });
    return maps;
  };
}

/** The maps that were rendered last for the facts of a cluster: most answers want the same again. */
const rendered = new WeakMap<ClusterFacts, { readonly asked: string; readonly maps: PluginParameters }>();

/** The names of scores by resource, both sorted. @param requested `RESOURCE/NAME` */
function scoreKeys(
  requested: readonly string[],
  all: readonly ClusterFacts[],
): readonly (readonly [string, readonly string[]])[] {
  const asked = new Map<string, string[]>();
  for (const key of requested) {
    const [resource = '', name = ''] = key.split('/');
    asked.set(resource, [...(asked.get(resource) ?? []), ...(name === '' ? [] : [name])]);
  }
  const resources = unionOfKeys(
    [...asked.keys()],
    all.map(({ scores }) => scores),
  );
  return resources.map((resource) => [
    resource,
    unionOfKeys(
      asked.get(resource) ?? [],
      all.flatMap(({ scores }) => scores.get(resource) ?? []),
    ),
  ]);
}

function unionOfKeys(
  requested: readonly string[],
  maps: readonly ReadonlyMap<string, unknown>[],
): readonly string[] {
  const keys = new Set(requested);
  for (const map of maps) for (const key of map.keys()) keys.add(key);
  return [...keys].sort();
}

/** The values of the keys; '' for a key without a value. */
function valuesByKey(keys: readonly string[], values: Facts | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.map((key) => [key, values?.get(key) ?? '']));
}

/** `labels: {region: eu}` as `labels.region: eu`. */
function flattened(
  entries: readonly (readonly [string, string | PluginParameters])[],
): Readonly<Record<string, string>> {
  const flat: [string, string][] = [];
  const add = (key: string, value: string | PluginParameters): void => {
    if (typeof value === 'string') flat.push([key, value]);
    else for (const [inner, one] of Object.entries(value)) add(`${key}.${inner}`, one);
  };
  for (const [key, value] of entries) add(key, value);
  return Object.fromEntries(flat);
}

function below(key: string, item: PluginParameters, flat: boolean): PluginParameters {
  return flat ? flattened([[key, item]]) : { [key]: item };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
