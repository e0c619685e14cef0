import { compareText } from '@berth/runtime/text/compare-text';
import type { WaveReading } from '../../src/core/argocd/waves/served-waves.ts';
import { type Binding, isBoundTo } from '../tokens/token-grant.ts';
import type { PluginRequest } from './plugin-request.ts';
import {
  clusterFacts,
  type ClusterFacts,
  FACT_MAPS,
  type Facts,
  type PluginPlacement,
  type PluginSource,
} from './plugin-source.ts';

/** An HTTP response of the endpoint. */
export interface GetparamsResponse {
  readonly status: number;
  /** JSON. */
  readonly body: Buffer;
  /** Number of clusters. */
  readonly items: number;
}

/** A binding, with its name in error messages: `token argocd-a`. */
export interface NamedBinding extends Binding {
  readonly who: string;
}

/** A request, and what the caller may read. */
export interface BoundRequest {
  readonly request: PluginRequest;
  /** All of them must allow the response. */
  readonly bindings: readonly NamedBinding[];
}

/** The response to a refused request. Argo CD shows its body in a condition of the ApplicationSet. */
export function refuse(status: number, message: string): GetparamsResponse {
  return { status, body: Buffer.from(JSON.stringify({ message })), items: 0 };
}

/**
 * Responds to a request from the published decisions. Argo CD treats a successful response that it does
 * not understand as "no clusters" and deletes every Application; it keeps them on an error. So
 * everything that is uncertain is an error. The order of the checks matters: a token that may not
 * read a placement must not learn whether it exists.
 */
export function computeResponse(
  { request, bindings }: BoundRequest,
  source: PluginSource,
): GetparamsResponse {
  const { placement: name } = request;
  const refusal = refuseNamespace(name, bindings);
  if (refusal !== undefined) return refusal;
  const problem = source.problem();
  if (problem !== undefined) return refuse(503, `Berth cannot respond yet: ${problem}`);
  const placement = source.placement(name);
  if (placement === undefined)
    return refuse(404, `nothing is published for placement ${name}: kubectl describe placement shows why`);
  if (request.requireCommit && placement.commit === '')
    return refuse(
      503,
      `the commit of placement ${name} is unknown: it has no source, or its source has not been read yet`,
    );
  return (
    refuseClusterSets(name, placement, { bindings, source }) ?? respondWithWaves(request, placement, source)
  );
}

/** Undefined if the request does not use waves. */
export function readWaves(
  { waves: rule, ...request }: PluginRequest,
  source: PluginSource,
): WaveReading | undefined {
  return rule === undefined ? undefined : source.waves({ ...request, rule });
}

/** Without a record of the served waves, a response could omit a cluster that has an Application. */
function respondWithWaves(
  request: PluginRequest,
  placement: PluginPlacement,
  source: PluginSource,
): GetparamsResponse {
  const waves = readWaves(request, source);
  if (waves === undefined) return renderResponse(request, placement, source);
  if (!waves.ok) return refuse(waves.isWrong ? 400 : 503, waves.message);
  return renderResponse(request, { ...placement, served: waves.served }, source);
}

function refuseNamespace(
  placement: string,
  bindings: readonly NamedBinding[],
): GetparamsResponse | undefined {
  const [namespace = ''] = placement.split('/');
  const unbound = bindings.find(({ namespaces }) => !isBoundTo(namespaces, namespace));
  if (unbound === undefined) return undefined;
  return refuse(403, `${unbound.who} may not read placements of namespace ${namespace}`);
}

/**
 * If a response omitted clusters that the token may not read, Argo CD would delete their
 * Applications. So the response has the whole placement or is an error. All groups are checked, so
 * that no group can be requested by itself.
 */
function refuseClusterSets(
  name: string,
  { groups }: PluginPlacement,
  { bindings, source }: { readonly bindings: readonly NamedBinding[]; readonly source: PluginSource },
): GetparamsResponse | undefined {
  for (const { who, clusterSets } of bindings) {
    if (clusterSets === 'any') continue;
    const isInSets = groups.every(({ decisions }) =>
      decisions.every(({ clusterName }) => source.isInSets(clusterName, clusterSets)),
    );
    if (isInSets) continue;
    return refuse(
      403,
      `placement ${name} selects clusters outside of the cluster sets of ${who}: let the placement select only from these sets, or allow ${who} more sets`,
    );
  }
  return undefined;
}

function renderResponse(
  request: PluginRequest,
  placement: PlacementInWaves,
  source: PluginSource,
): GetparamsResponse {
  const parameters = renderParameters(request, placement, source);
  // An empty list means that the placement selects nothing. Clusters that wait are selected.
  if (parameters.length === 0 && selectsAnyCluster(request, placement))
    return refuse(
      503,
      `no cluster of placement ${request.placement} is served yet: all of them wait for their waves`,
    );
  const onEmpty = request.onEmpty ?? (placement.emptyAllowed ? 'allow' : 'error');
  if (parameters.length === 0 && onEmpty !== 'allow') {
    const inGroup = request.group === undefined ? '' : ` in group ${request.group}`;
    return refuse(
      503,
      `placement ${request.placement} selects no cluster${inGroup}; an empty response would delete every Application. Set onEmpty: allow if that is meant`,
    );
  }
  const body = Buffer.from(`{"output":{"parameters":[${parameters.join(',')}]}}`);
  return { status: 200, body, items: parameters.length };
}

function selectsAnyCluster({ group }: PluginRequest, { groups }: PluginPlacement): boolean {
  return groups.some(
    ({ name, decisions }) => (group === undefined || name === group) && decisions.length > 0,
  );
}

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
interface PlacementInWaves extends PluginPlacement {
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

/** Cached results of `orderedDecisions` for complete decisions. */
const orderByGroups = new WeakMap<PluginPlacement['groups'], readonly OrderedDecision[]>();

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

function placementParameters(
  { placement }: PluginRequest,
  { decisionId, commit }: PluginPlacement,
): PluginParameters {
  const [namespace = '', placementName = ''] = placement.split('/');
  return { placement, placementName, namespace, decisionId, commit };
}

/** Cached maps of the facts of a cluster, shared by all placements. */
const renderedMaps = new WeakMap<ClusterFacts, { readonly shape: string; readonly maps: PluginParameters }>();
/** The text that was last rendered from the facts of a cluster. */
const rendered = new WeakMap<
  ClusterFacts,
  Omit<Item, 'facts'> & { readonly inputs: string; readonly text: string }
>();

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

const MAX_NAME_LENGTH = 253;

/**
 * A cluster's name as a valid part of a Kubernetes name, as Argo CD's cluster generator gives it in
 * `nameNormalized`: small letters, digits, `-` and `.` only. Source:
 * https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-Cluster/
 */
function normalizedName(name: string): string {
  const allowed = name.toLowerCase().replaceAll(/[^-a-z0-9.]/gu, '-');
  return allowed.slice(0, MAX_NAME_LENGTH).replaceAll(/^[-.]+|[-.]+$/g, '');
}
