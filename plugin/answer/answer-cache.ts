import type { WaveReading } from '../../src/core/argocd/waves/served-waves.ts';
import { type Answer, answerRequest, answerWaves, type Question } from './answer-request.ts';
import type { PluginPlacement, PluginSource } from './plugin-source.ts';

/** The inputs of a cached response. */
interface KeptAnswer {
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
  readonly #kept = new Map<string, KeptAnswer>();
  #bytes = 0;

  constructor(source: PluginSource) {
    this.#source = source;
  }

  answer(question: Question): Answer {
    const key = keyOf(question);
    const kept = this.#kept.get(key);
    if (kept !== undefined) this.#drop(key, kept);
    const placement = this.#source.placement(question.request.placement);
    const waves = answerWaves(question.request, this.#source);
    const revision = this.#source.revision();
    const isGood = kept !== undefined && this.#source.problem() === undefined;
    if (
      isGood &&
      kept.revision === revision &&
      isSame(kept.placement, placement) &&
      areSame(kept.waves, waves)
    ) {
      this.#keep(key, kept);
      return kept.answer;
    }
    const answer = answerRequest(question, this.#source);
    if (answer.status === 200 && placement !== undefined)
      this.#keep(key, { answer, placement, waves, revision });
    return answer;
  }

  #keep(key: string, kept: KeptAnswer): void {
    this.#kept.set(key, kept);
    this.#bytes += kept.answer.body.length;
    for (const [oldest, one] of this.#kept) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#drop(oldest, one);
    }
  }

  #drop(key: string, { answer }: KeptAnswer): void {
    this.#kept.delete(key);
    this.#bytes -= answer.body.length;
  }
}

/** The key contains what the caller may read, and its waves, but not its identity. */
function keyOf({ request: { applicationSet, ...rest }, bindings }: Question): string {
  const asked = rest.waves === undefined ? rest : { ...rest, applicationSet };
  const bound = bindings.map(({ namespaces, clusterSets }) => [namespaces, clusterSets]);
  return JSON.stringify([asked, bound], (_key, value: unknown) =>
    value instanceof Set ? [...value].sort() : value,
  );
}

function areSame(kept: WaveReading | undefined, now: WaveReading | undefined): boolean {
  return kept === now || (kept?.ok === true && now?.ok === true && kept.served === now.served);
}

function isSame(kept: PluginPlacement, now: PluginPlacement | undefined): boolean {
  return (
    now !== undefined &&
    kept.groups === now.groups &&
    kept.commit === now.commit &&
    kept.emptyAllowed === now.emptyAllowed
  );
}
