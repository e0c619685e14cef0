import type { WaveReading } from '../../src/core/argocd/waves/served-waves.ts';
import { type Binding, isBoundTo } from '../tokens/token-grant.ts';
import type { PluginRequest } from './plugin-request.ts';
import type { PluginPlacement, PluginSource } from './plugin-source.ts';
import { type PlacementInWaves, renderParameters } from './render-parameters.ts';

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
