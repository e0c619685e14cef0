import type { KubeObject } from '../../core/model/object-meta.ts';
import { canonicalJson } from '../../core/model/json-equal.ts';
import { contentOf } from '../../core/work/update/merge-content.ts';
import { digestOf } from '../options/agent-settings.ts';
import type { ApplyOutcome } from '../../core/work/applied/apply-outcome.ts';

interface Attempt {
  readonly outcome: ApplyOutcome;
  readonly seen: string | undefined;
}

interface Remembered {
  readonly wanted: string;
  readonly led: string;
  /** Of the object as it came back: equal means nothing at all changed. */
  readonly resourceVersion: string | undefined;
  readonly uid: string | undefined;
}

/**
 * What writing a manifest led to, per object of one work: the API server adds defaults, so wanted and live differ forever, and
 * without this every pass would write again. A status that changes does not count, so it causes no writes either.
 */
export class AppliedMemory {
  readonly #outcomes = new Map<number, Attempt>();
  readonly #byOrdinal = new Map<number, Remembered>();

  /** Is the live object still what writing exactly this led to? */
  isSettled(ordinal: number, wanted: string, live: KubeObject): boolean {
    const remembered = this.#byOrdinal.get(ordinal);
    if (remembered?.wanted !== wanted || remembered.uid !== live.metadata.uid) return false;
    if (remembered.resourceVersion === live.metadata.resourceVersion) return true;
    if (remembered.led !== fingerprint(live)) return false;
    this.#byOrdinal.set(ordinal, { ...remembered, resourceVersion: live.metadata.resourceVersion });
    return true;
  }

  /** Did this process bring it about, so that the memory is to be believed? */
  knows(ordinal: number): boolean {
    return this.#byOrdinal.has(ordinal);
  }

  remember(ordinal: number, wanted: string, live: KubeObject): void {
    const { uid, resourceVersion } = live.metadata;
    this.#byOrdinal.set(ordinal, { wanted, led: fingerprint(live), resourceVersion, uid });
  }

  /** @param live the object as it was after the attempt, if it could be read */
  noteOutcome(ordinal: number, outcome: ApplyOutcome, live: KubeObject | undefined): void {
    this.#outcomes.set(ordinal, { outcome, seen: live === undefined ? undefined : fingerprint(live) });
  }

  /** The last outcome, for an object that is not to be touched again yet. */
  lastOutcome(ordinal: number): ApplyOutcome | undefined {
    return this.#outcomes.get(ordinal)?.outcome;
  }

  /** Was the last attempt hopeless, and nothing changed since that could make a difference? */
  isHopeless(ordinal: number, live: KubeObject): boolean {
    const attempt = this.#outcomes.get(ordinal);
    return (
      attempt?.outcome.kind === 'failed' &&
      attempt.outcome.retry === 'never' &&
      attempt.seen === fingerprint(live)
    );
  }
}

/** Of everything a manifest can set: content, labels, annotations, owner references, finalizers. */
function fingerprint(live: KubeObject): string {
  const { labels, annotations, ownerReferences, finalizers } = live.metadata;
  return digestOf(canonicalJson([contentOf(live), labels, annotations, ownerReferences, finalizers]));
}

/** Names what is wanted: the manifest and every input that changes what is written. */
export function wantedDigest(...inputs: readonly unknown[]): string {
  return digestOf(canonicalJson(inputs));
}
