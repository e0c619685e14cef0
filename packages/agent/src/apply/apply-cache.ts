import { type FieldPath, valueAt, withoutFields } from '@berth/kube/model/field-path';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { UpdateStrategy } from '@berth/ocm/kind/manifest-work';
import { canonicalJson, jsonEqual } from '@berth/runtime/json/json-equal';
import { sha256 } from '@berth/runtime/sha256';
import type { LiveObjects } from '../cluster/live-objects.ts';
import type { ReadyTask } from '../cluster/manifest-task.ts';
import type { ApplyOutcome } from '../rules/applied/kube-failure.ts';
import { objectContent, type Ownership } from '../rules/update/plan-update.ts';

interface Attempt {
  readonly outcome: ApplyOutcome;
  readonly seenDigest: string | undefined;
}

interface Remembered {
  readonly wanted: string;
  /**
   * Digest of the object in the response, without the excluded fields. While the live object has the
   * same digest, no field of the agent changed.
   */
  readonly digest: string;
  /** Fields that are left to others, or will be if others set them again. */
  readonly excluded: readonly FieldPath[];
  readonly resourceVersion: string | undefined;
  readonly uid: string | undefined;
  /** Who applied it with server-side apply; undefined for another strategy. */
  readonly appliedAs: string | undefined;
  /** Fields that the write changed although the manifest does not name them, with their new values. */
  readonly undone: readonly UndoneField[];
}

interface WriteDetails {
  /** Fields that the manifest does not name, but that the write changed. */
  readonly undone?: readonly FieldPath[];
  /** The field manager of a server-side apply. */
  readonly appliedAs?: string;
}

interface UndoneField {
  readonly path: FieldPath;
  readonly value: unknown;
}

/**
 * Caches the result of writing each manifest of one work, by the id of its object. The API server adds defaults, so
 * wanted and live objects always differ; without this every pass would write again. Status changes
 * are ignored.
 */
export class ApplyCache {
  readonly #outcomes = new Map<string, Attempt>();
  readonly #byId = new Map<string, Remembered>();
  /** Fields that the manifest does not name, and that others set again after we had removed them. */
  readonly #leftFields = new Map<string, readonly FieldPath[]>();

  /** Whether the live object is still the result of writing exactly this manifest. */
  isAsWritten(id: string, wanted: string, live: KubeObject): boolean {
    const remembered = this.#byId.get(id);
    if (remembered?.wanted !== wanted || remembered.uid !== live.metadata.uid) return false;
    if (remembered.resourceVersion === live.metadata.resourceVersion) return true;
    if (remembered.digest !== fingerprint(live, remembered.excluded)) return false;
    this.leftFields(id, live);
    this.#byId.set(id, { ...remembered, resourceVersion: live.metadata.resourceVersion });
    return true;
  }

  /** Whether this process wrote the object, so that the cache has an entry. */
  hasEntry(id: string): boolean {
    return this.#byId.has(id);
  }

  /** The field manager as which this process applied the object last; undefined: none, or it wrote in another way since. */
  lastManager(id: string): string | undefined {
    return this.#byId.get(id)?.appliedAs;
  }

  /** @param more what is known about the write */
  remember(
    id: string,
    wanted: string,
    live: KubeObject,
    { undone = [], appliedAs }: WriteDetails = {},
  ): void {
    const { uid, resourceVersion } = live.metadata;
    const content = objectContent(live);
    const excluded = [...(this.#leftFields.get(id) ?? []), ...undone];
    this.#byId.set(id, {
      wanted,
      digest: fingerprint(live, excluded),
      excluded,
      resourceVersion,
      uid,
      appliedAs,
      undone: undone.map((path) => ({ path, value: valueAt(content, path) })),
    });
  }

  /**
   * Fields of the object that are left to others, including those that the last write reverted and
   * that were set again.
   */
  leftFields(id: string, live: KubeObject): readonly FieldPath[] {
    const content = objectContent(live);
    const setAgain = (this.#byId.get(id)?.undone ?? []).filter(
      ({ path, value }) => !jsonEqual(valueAt(content, path), value),
    );
    return this.leave(
      id,
      setAgain.map(({ path }) => path),
    );
  }

  /**
   * Leaves these fields to others from now on.
   * @returns all such fields
   */
  leave(id: string, paths: readonly FieldPath[]): readonly FieldPath[] {
    const before = this.#leftFields.get(id) ?? [];
    const fresh = paths.filter((path) => !before.some((known) => jsonEqual(known, path)));
    if (fresh.length === 0) return before;
    const all = [...before, ...fresh];
    this.#leftFields.set(id, all);
    return all;
  }

  /** Forgets the objects of manifests that left the work. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const map of [this.#outcomes, this.#byId, this.#leftFields])
      for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
  }

  /** @param live the object as it was after the attempt, if it could be read */
  noteOutcome(id: string, outcome: ApplyOutcome, live: KubeObject | undefined): void {
    this.#outcomes.set(id, { outcome, seenDigest: live === undefined ? undefined : fingerprint(live) });
  }

  /** The last outcome, for an object that must not be retried yet. */
  lastOutcome(id: string): ApplyOutcome | undefined {
    return this.#outcomes.get(id)?.outcome;
  }

  /** Whether the last attempt failed permanently, and nothing relevant changed since. */
  isHopeless(id: string, live: KubeObject): boolean {
    const attempt = this.#outcomes.get(id);
    return (
      attempt?.outcome.kind === 'failed' &&
      attempt.outcome.retry === 'never' &&
      attempt.seenDigest === fingerprint(live)
    );
  }
}

/** Digest of everything that a manifest can set: content, labels, annotations, owner references, finalizers. */
function fingerprint(live: KubeObject, excluded: readonly FieldPath[] = []): string {
  const { labels, annotations, ownerReferences, finalizers } = live.metadata;
  const content = withoutFields(objectContent(live), excluded);
  return sha256(canonicalJson([content, labels, annotations, ownerReferences, finalizers]));
}

/** Digest of the wanted state: the manifest and all other inputs of the write. */
export function desiredDigest(...inputs: readonly unknown[]): string {
  return sha256(canonicalJson(inputs));
}

/** The inputs for applying one manifest with a strategy. */
export interface ApplyContext {
  /** Name of the work. */
  readonly work: string;
  readonly cluster: KubeApi;
  readonly live: LiveObjects;
  readonly memory: ApplyCache;
  readonly task: ReadyTask;
  readonly ownership: Ownership;
  readonly strategy: UpdateStrategy | undefined;
  /** Whether to read the live object from the server and not from the watch, because the last attempt had a conflict. */
  readonly fresh: boolean;
  /** Whether nothing suggests that the object exists. Creating it without a read then saves a request. */
  readonly likelyNew: boolean;
  /**
   * Whether the work's status shows that this version was applied, possibly by an earlier process.
   */
  readonly appliedBefore: boolean;
  /** Whether the executor of the work may delete the object. True without an executor. */
  readonly mayDelete: () => Promise<boolean>;
}

/** The result of a strategy. It has no object if the strategy reads none (ReadOnly). */
export interface StrategyResult {
  readonly object?: KubeObject | undefined;
  /** Whether anything was written to the cluster. */
  readonly wrote: boolean;
}

export function readLive({ live, task, fresh }: ApplyContext): Promise<KubeObject | undefined> {
  return fresh ? live.getFresh(task) : live.get(task);
}

/** The object with its managedFields, which the watch does not keep. */
export async function withManagers(context: ApplyContext, live: KubeObject): Promise<KubeObject | undefined> {
  if (live.metadata.managedFields !== undefined) return live;
  const { task, cluster, work } = context;
  const current = await cluster.get(task.kind, task.key);
  if (current !== undefined) context.live.written(task.kind, current, work);
  return current;
}
