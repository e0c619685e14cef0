import type { KubeObject } from '../../core/model/object-meta.ts';
import { canonicalJson } from '../../core/model/json-equal.ts';
import { objectContent } from '../../core/work/update/merge-content.ts';
import { sha256 } from '../../runtime/sha256.ts';
import type { ApplyOutcome } from '../../core/work/applied/apply-outcome.ts';

interface Attempt {
  readonly outcome: ApplyOutcome;
  readonly seen: string | undefined;
}

interface Remembered {
  readonly wanted: string;
  readonly led: string;
  /** Digest of the object in the answer: equal means that nothing changed. */
  readonly resourceVersion: string | undefined;
  readonly uid: string | undefined;
}

/**
 * Stores the result of writing a manifest, per object of one work. The API server adds defaults, so wanted and live
 * objects always differ; without this every pass would write again. A change of status does not count.
 */
export class ApplyCache {
  readonly #outcomes = new Map<number, Attempt>();
  readonly #byOrdinal = new Map<number, Remembered>();

  /** Whether the live object is still the result of writing exactly this. */
  isSettled(ordinal: number, wanted: string, live: KubeObject): boolean {
    const remembered = this.#byOrdinal.get(ordinal);
    if (remembered?.wanted !== wanted || remembered.uid !== live.metadata.uid) return false;
    if (remembered.resourceVersion === live.metadata.resourceVersion) return true;
    if (remembered.led !== fingerprint(live)) return false;
    this.#byOrdinal.set(ordinal, { ...remembered, resourceVersion: live.metadata.resourceVersion });
    return true;
  }

  /** Whether this process wrote it, so that the memory is valid. */
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

  /** Whether the last attempt failed for good, and nothing relevant changed since. */
  isHopeless(ordinal: number, live: KubeObject): boolean {
    const attempt = this.#outcomes.get(ordinal);
    return (
      attempt?.outcome.kind === 'failed' &&
      attempt.outcome.retry === 'never' &&
      attempt.seen === fingerprint(live)
    );
  }
}

/** Digest of everything a manifest can set: content, labels, annotations, owner references, finalizers. */
function fingerprint(live: KubeObject): string {
  const { labels, annotations, ownerReferences, finalizers } = live.metadata;
  return sha256(canonicalJson([objectContent(live), labels, annotations, ownerReferences, finalizers]));
}

/** Digest of what is wanted: the manifest and every input that changes what is written. */
export function desiredDigest(...inputs: readonly unknown[]): string {
  return sha256(canonicalJson(inputs));
}
