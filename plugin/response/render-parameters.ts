import { compareText } from '@berth/runtime/text/compare-text';
import { clusterFacts, type ClusterFacts, FACT_MAPS, type Facts } from './cluster-facts.ts';
import { normalizedName } from './normalized-name.ts';
import type { PluginRequest } from './plugin-request.ts';
import type { PluginPlacement, PluginSource } from './plugin-source.ts';

/**
 * The parameters of one cluster, which ApplicationSet templates use. docs/argocd.md describes them. Every scalar is a string,
 * because Argo CD formats numbers as floats, and the items of one response have the same keys.
 */
interface PluginParameters {
  readonly [key: string]: string | PluginParameters;
}

/**
 * A published decision. `served`: the wave of each served cluster; undefined: all clusters are served, and their group
 * number is the wave.
 */
export interface PlacementInWaves extends PluginPlacement {
  readonly served?: ReadonlyMap<string, number> | undefined;
}

/**
 * Renders one item for each served cluster of the placement, sorted by cluster name. With `request.group`, only the
 * clusters of that decision group.
 * @returns the JSON of each item: `PluginParameters`
 */
export function renderParameters(
  request: PluginRequest,
  placement: PlacementInWaves,
  source: PluginSource,
): readonly string[] {
  const { served } = placement;
  const items = orderedDecisions(request, placement)
    .filter(({ decision }) => served === undefined || served.has(decision.clusterName))
    .map((ordered) => {
      const { clusterName } = ordered.decision;
      const facts = clusterFacts(source.cluster(clusterName), source.scores(clusterName));
      return { ordered, facts, wave: served?.get(clusterName) ?? ordered.group.index };
    });
  const shapes = [...new Map(items.map(({ facts }) => [facts.shape, facts])).values()];
  const renderItem = itemRenderer(request, placement, shapes);
  return items.map(renderItem);
}

/** A decided cluster. `rank`: its position in the decision, from 1. */
interface OrderedDecision {
  readonly group: PluginPlacement['groups'][number];
  readonly decision: PluginPlacement['groups'][number]['decisions'][number];
  readonly rank: number;
}

/** One item of a response, before it is rendered. */
interface Item {
  readonly ordered: OrderedDecision;
  readonly facts: ClusterFacts;
  readonly wave: number;
}

/** The decided clusters, sorted by name. The list of a complete decision is cached by its groups. */
function orderedDecisions(
  { group: wanted }: PluginRequest,
  { groups }: PluginPlacement,
): readonly OrderedDecision[] {
  const cached = wanted === undefined ? orderByGroups.get(groups) : undefined;
  if (cached !== undefined) return cached;
  const order = groups
    .filter((group) => wanted === undefined || group.name === wanted)
    .flatMap((group) => group.decisions.map((decision) => ({ group, decision })))
    .map((item, position) => ({ ...item, rank: position + 1 }))
    .sort((a, b) => compareText(a.decision.clusterName, b.decision.clusterName));
  if (wanted === undefined) orderByGroups.set(groups, order);
  return order;
}

/** Cached results of `orderedDecisions` for complete decisions. */
const orderByGroups = new WeakMap<PluginPlacement['groups'], readonly OrderedDecision[]>();

function placementParameters(
  { placement }: PluginRequest,
  { decisionId, commit }: PluginPlacement,
): PluginParameters {
  const [namespace = '', placementName = ''] = placement.split('/');
  return { placement, placementName, namespace, decisionId, commit };
}

/**
 * Renders an item, or returns the cached text for the same facts: after a change of one cluster,
 * 999 of 1,000 items are unchanged, and rendering them again took 10 ms of processor time.
 * @param shapes facts that have all keys of all clusters
 */
function itemRenderer(
  request: PluginRequest,
  placement: PluginPlacement,
  shapes: readonly ClusterFacts[],
): (item: Item) => string {
  const { keys, flat, as } = request;
  const wanted = FACT_MAPS.map((map) => ({
    map,
    keys: unionOfKeys(
      keys[map],
      shapes.map(({ maps }) => maps[map]),
    ),
  }));
  const scores = scoreKeys(keys.scores, shapes);
  const renderMaps = ({ maps, scores: found }: ClusterFacts): PluginParameters => {
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
  const shape = JSON.stringify([wanted, scores, flat]);
  const mapsOf = (facts: ClusterFacts): PluginParameters => {
    const cached = renderedMaps.get(facts);
    if (cached?.shape === shape) return cached.maps;
    const maps = renderMaps(facts);
    renderedMaps.set(facts, { shape, maps });
    return maps;
  };
  const placementValues = placementParameters(request, placement);
  const inputs = JSON.stringify([shape, as, placementValues]);
  return (item) => {
    const { ordered, facts, wave } = item;
    const cached = rendered.get(facts);
    if (cached?.ordered === ordered && cached.wave === wave && cached.inputs === inputs) return cached.text;
    const values = { ...itemValues(item, placementValues), ...mapsOf(facts) };
    const text = JSON.stringify(as === undefined ? values : nestUnder(as, values, flat));
    rendered.set(facts, { inputs, ordered, wave, text });
    return text;
  };
}

/** Cached maps of the facts of a cluster, shared by all placements. */
const renderedMaps = new WeakMap<ClusterFacts, { readonly shape: string; readonly maps: PluginParameters }>();

/** The text that was last rendered from the facts of a cluster. */
const rendered = new WeakMap<
  ClusterFacts,
  Omit<Item, 'facts'> & { readonly inputs: string; readonly text: string }
>();

function itemValues(
  { ordered: { group, decision, rank }, facts: { server, version, clusterSet }, wave }: Item,
  placementValues: PluginParameters,
): PluginParameters {
  const { clusterName: name, reason, score } = decision;
  return {
    name,
    clusterName: name,
    nameNormalized: normalizedName(name),
    server,
    version,
    clusterSet,
    ...placementValues,
    group: group.name,
    groupIndex: String(group.index),
    wave: `w${wave}`,
    rank: String(rank),
    score: score === undefined ? '' : String(score),
    reason: reason ?? '',
  };
}

/**
 * The names of scores by resource, both sorted.
 * @param requested `RESOURCE/NAME`
 */
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

/** The values of the keys; '' if a key has no value. */
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

function nestUnder(key: string, item: PluginParameters, flat: boolean): PluginParameters {
  return flat ? flattened([[key, item]]) : { [key]: item };
}
