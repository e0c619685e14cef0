import type { WaveReading } from '../../src/core/argocd/waves/served-waves.ts';
import { type GetparamsResponse, computeResponse, readWaves, type BoundRequest } from './compute-response.ts';
import type { PluginPlacement, PluginSource } from './plugin-source.ts';

/** A cached response and the inputs it was computed from. */
interface CachedResponse {
  readonly response: GetparamsResponse;
  readonly placement: PluginPlacement;
  readonly waves: WaveReading | undefined;
  readonly revision: number;
}

/** Enough for 64 responses with 1,000 clusters each. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Caches the bytes of responses, because Argo CD sends the same request at every reconcile of an
 * ApplicationSet. A cached response is used only while all of its inputs are the same. Refusals are
 * not cached.
 */
export class ResponseCache {
  readonly #source: PluginSource;
  /** The most recently used response is last. */
  readonly #cached = new Map<string, CachedResponse>();
  #bytes = 0;

  constructor(source: PluginSource) {
    this.#source = source;
  }

  respond(request: BoundRequest): GetparamsResponse {
    const key = keyOf(request);
    const cached = this.#cached.get(key);
    if (cached !== undefined) this.#remove(key, cached);
    const placement = this.#source.placement(request.request.placement);
    const waves = readWaves(request.request, this.#source);
    const revision = this.#source.revision();
    const isUsable = cached !== undefined && this.#source.problem() === undefined;
    if (
      isUsable &&
      cached.revision === revision &&
      isSamePlacement(cached.placement, placement) &&
      areSameWaves(cached.waves, waves)
    ) {
      this.#add(key, cached);
      return cached.response;
    }
    const response = computeResponse(request, this.#source);
    if (response.status === 200 && placement !== undefined)
      this.#add(key, { response, placement, waves, revision });
    return response;
  }

  #add(key: string, cached: CachedResponse): void {
    this.#cached.set(key, cached);
    this.#bytes += cached.response.body.length;
    for (const [oldest, entry] of this.#cached) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#remove(oldest, entry);
    }
  }

  #remove(key: string, { response }: CachedResponse): void {
    this.#cached.delete(key);
    this.#bytes -= response.body.length;
  }
}

/**
 * Identifies requests with the same response: the parameters and what the caller may read, but not
 * who the caller is. The ApplicationSet is part of it only with waves, because each has its own.
 */
function keyOf({ request: { applicationSet, ...rest }, bindings }: BoundRequest): string {
  const parameters = rest.waves === undefined ? rest : { ...rest, applicationSet };
  const readable = bindings.map(({ namespaces, clusterSets }) => [namespaces, clusterSets]);
  return JSON.stringify([parameters, readable], (_key, value: unknown) =>
    value instanceof Set ? [...value].sort() : value,
  );
}

function areSameWaves(cached: WaveReading | undefined, now: WaveReading | undefined): boolean {
  return cached === now || (cached?.ok === true && now?.ok === true && cached.served === now.served);
}

function isSamePlacement(cached: PluginPlacement, now: PluginPlacement | undefined): boolean {
  return (
    now !== undefined &&
    cached.groups === now.groups &&
    cached.commit === now.commit &&
    cached.emptyAllowed === now.emptyAllowed
  );
}
