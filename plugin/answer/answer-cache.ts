import type { WaveReading } from '../../src/core/argocd/waves/served-waves.ts';
import { type Answer, answerRequest, answerWaves, type Question } from './answer-request.ts';
import type { PluginPlacement, PluginSource } from './plugin-source.ts';

/** A cached response and the inputs it was computed from. */
interface CachedResponse {
  readonly answer: Answer;
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
export class AnswerCache {
  readonly #source: PluginSource;
  /** The most recently used response is last. */
  readonly #cached = new Map<string, CachedResponse>();
  #bytes = 0;

  constructor(source: PluginSource) {
    this.#source = source;
  }

  answer(question: Question): Answer {
    const key = keyOf(question);
    const cached = this.#cached.get(key);
    if (cached !== undefined) this.#remove(key, cached);
    const placement = this.#source.placement(question.request.placement);
    const waves = answerWaves(question.request, this.#source);
    const revision = this.#source.revision();
    const isUsable = cached !== undefined && this.#source.problem() === undefined;
    if (
      isUsable &&
      cached.revision === revision &&
      isSamePlacement(cached.placement, placement) &&
      areSameWaves(cached.waves, waves)
    ) {
      this.#add(key, cached);
      return cached.answer;
    }
    const answer = answerRequest(question, this.#source);
    if (answer.status === 200 && placement !== undefined)
      this.#add(key, { answer, placement, waves, revision });
    return answer;
  }

  #add(key: string, cached: CachedResponse): void {
    this.#cached.set(key, cached);
    this.#bytes += cached.answer.body.length;
    for (const [oldest, entry] of this.#cached) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#remove(oldest, entry);
    }
  }

  #remove(key: string, { answer }: CachedResponse): void {
    this.#cached.delete(key);
    this.#bytes -= answer.body.length;
  }
}

/**
 * Identifies requests with the same response: the parameters and what the caller may read, but not
 * who the caller is. The ApplicationSet is part of it only with waves, because each has its own.
 */
function keyOf({ request: { applicationSet, ...rest }, bindings }: Question): string {
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
