import type { KubeObject } from '../../core/model/object-meta.ts';
import { type FieldPath, valueAt, withoutFields } from '../../core/model/field-path.ts';
import { canonicalJson, jsonEqual } from '../../core/model/json-equal.ts';
import { objectContent } from '../../core/work/update/merge-content.ts';
import { sha256 } from '../../runtime/sha256.ts';
import type { ApplyOutcome } from '../../core/work/applied/apply-outcome.ts';

interface Attempt {
  readonly outcome: ApplyOutcome;
  readonly seen: string | undefined;
}

interface Remembered {
  readonly wanted: string;
  /**
   * Digest of the object in the response, without `besides`. If it is equal, no field of the agent
   * changed.
   */
  readonly led: string;
  /** Fields that are left to others now, or when these set them again. */
  readonly besides: readonly FieldPath[];
  readonly resourceVersion: string | undefined;
  readonly uid: string | undefined;
  /** Changes of the write in fields that are not in the manifest, with their new values. */
  readonly undone: readonly UndoneField[];
}

interface UndoneField {
  readonly path: FieldPath;
  readonly value: unknown;
}

/**
 * Stores the result of writing a manifest, per object of one work. The API server adds defaults, so
 * wanted and live objects always differ; without this every pass would write again. Status changes
 * are ignored.
 */
export class ApplyCache {
  readonly #outcomes = new Map<number, Attempt>();
  readonly #byOrdinal = new Map<number, Remembered>();
  /** Fields that the manifest does not name, and that others set again after we had removed them. */
  readonly #left = new Map<number, readonly FieldPath[]>();

  /** Whether the live object is still the result of writing exactly this manifest. */
  isSettled(ordinal: number, wanted: string, live: KubeObject): boolean {
    const remembered = this.#byOrdinal.get(ordinal);
    if (remembered?.wanted !== wanted || remembered.uid !== live.metadata.uid) return false;
    if (remembered.resourceVersion === live.metadata.resourceVersion) return true;
    if (remembered.led !== fingerprint(live, remembered.besides)) return false;
    this.leftFields(ordinal, live);
    this.#byOrdinal.set(ordinal, { ...remembered, resourceVersion: live.metadata.resourceVersion });
    return true;
  }

  /** Whether this process wrote the object, so that the cache has an entry. */
  knows(ordinal: number): boolean {
    return this.#byOrdinal.has(ordinal);
  }

  /** @param undone fields that the manifest does not name, but that the write changed */
  remember(ordinal: number, wanted: string, live: KubeObject, undone: readonly FieldPath[] = []): void {
    const { uid, resourceVersion } = live.metadata;
    const content = objectContent(live);
    const besides = [...(this.#left.get(ordinal) ?? []), ...undone];
    this.#byOrdinal.set(ordinal, {
      wanted,
      led: fingerprint(live, besides),
      besides,
      resourceVersion,
      uid,
      undone: undone.map((path) => ({ path, value: valueAt(content, path) })),
    });
  }

  /**
   * Fields of the object that are left to others, including those that the last write reverted and
   * that were set again.
   */
  leftFields(ordinal: number, live: KubeObject): readonly FieldPath[] {
    const content = objectContent(live);
    const back = (this.#byOrdinal.get(ordinal)?.undone ?? []).filter(
      ({ path, value }) => !jsonEqual(valueAt(content, path), value),
    );
    return this.leave(
      ordinal,
      back.map(({ path }) => path),
    );
  }

  /**
   * Leaves these fields to others from now on.
   * @returns all such fields
   */
  leave(ordinal: number, paths: readonly FieldPath[]): readonly FieldPath[] {
    const before = this.#left.get(ordinal) ?? [];
    const fresh = paths.filter((path) => !before.some((known) => jsonEqual(known, path)));
    if (fresh.length === 0) return before;
    const all = [...before, ...fresh];
    this.#left.set(ordinal, all);
    return all;
  }

  /** @param live the object as it was after the attempt, if it could be read */
  noteOutcome(ordinal: number, outcome: ApplyOutcome, live: KubeObject | undefined): void {
    this.#outcomes.set(ordinal, { outcome, seen: live === undefined ? undefined : fingerprint(live) });
  }

  /** The last outcome, for an object that must not be retried yet. */
  lastOutcome(ordinal: number): ApplyOutcome | undefined {
    return this.#outcomes.get(ordinal)?.outcome;
  }

  /** Whether the last attempt failed permanently, and nothing relevant changed since. */
  isHopeless(ordinal: number, live: KubeObject): boolean {
    const attempt = this.#outcomes.get(ordinal);
    return (
      attempt?.outcome.kind === 'failed' &&
      attempt.outcome.retry === 'never' &&
      attempt.seen === fingerprint(live)
    );
  }
}

/** Digest of everything that a manifest can set: content, labels, annotations, owner references, finalizers. */
function fingerprint(live: KubeObject, besides: readonly FieldPath[] = []): string {
  const { labels, annotations, ownerReferences, finalizers } = live.metadata;
  const content = withoutFields(objectContent(live), besides);
  return sha256(canonicalJson([content, labels, annotations, ownerReferences, finalizers]));
}

/** Digest of the wanted state: the manifest and all other inputs of the write. */
export function desiredDigest(...inputs: readonly unknown[]): string {
  return sha256(canonicalJson(inputs));
}
