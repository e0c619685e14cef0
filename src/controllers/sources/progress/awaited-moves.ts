import type { Clock } from '@berth/runtime/clock/clock';

/** How long a source waits until another one has read its commit. */
const MAX_WAIT_MS = 30_000;

interface Reader {
  /** The ref that the source follows. Undefined: no other source follows the same one. */
  readonly ref: string | undefined;
  /** The commit whose content the source last claimed. */
  commit: string | undefined;
  /** Its last attempt failed. */
  hasFailed: boolean;
}

interface Wait {
  readonly commit: string;
  readonly sinceMs: number;
  /** The sources that have to read the commit. */
  readonly owners: Set<string>;
}

/**
 * Sources of the same ref read a commit one after the other. If the commit moves an object from one of them to another,
 * the object still belongs to the first one until that source has read the commit, too. Until then this is no conflict,
 * and the commit is not complete. Nothing blocks: a source that must wait tries again later.
 */
export class AwaitedMoves {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #readers: ReadonlyMap<string, Reader>;
  readonly #waits = new Map<string, Wait>();
  #onFree: (source: string) => void = () => undefined;

  /** @param sources the sources that write to the hub; `ref`: equal for those that follow the same ref of a repository */
  constructor(
    clock: Pick<Clock, 'now'>,
    sources: readonly { readonly name: string; readonly ref?: string | undefined }[],
  ) {
    this.#clock = clock;
    this.#readers = new Map(
      sources.map(({ name, ref }) => [name, { ref, commit: undefined, hasFailed: false }]),
    );
  }

  /** @param listener called for each source that waited and may try again */
  onFree(listener: (source: string) => void): void {
    this.#onFree = listener;
  }

  /** The source has read this commit. */
  claimed(source: string, commit: string | undefined): void {
    const reader = this.#readers.get(source);
    if (reader === undefined) return;
    reader.commit = commit;
    reader.hasFailed = false;
    if (this.#waits.get(source)?.commit !== commit) this.#waits.delete(source);
    this.#tellFree();
  }

  /** The source could not be read. */
  failed(source: string): void {
    const reader = this.#readers.get(source);
    if (reader === undefined) return;
    reader.hasFailed = true;
    this.#tellFree();
  }

  /** Whether an object may move from the owner to the source by the commit of the source, which the owner has not read yet. */
  mustWait(source: string, owner: string): boolean {
    const { commit } = this.#readers.get(source) ?? {};
    if (commit === undefined || !this.#isBehind(owner, source)) return false;
    let wait = this.#waits.get(source);
    if (wait?.commit !== commit)
      this.#waits.set(source, (wait = { commit, sinceMs: this.#clock.now(), owners: new Set() }));
    wait.owners.add(owner);
    return Math.abs(this.#clock.now() - wait.sinceMs) < MAX_WAIT_MS;
  }

  #isBehind(owner: string, source: string): boolean {
    const [other, own] = [this.#readers.get(owner), this.#readers.get(source)];
    if (other === undefined || own?.ref === undefined || other.ref !== own.ref) return false;
    return other.commit !== own.commit && !other.hasFailed;
  }

  #tellFree(): void {
    for (const [source, { owners }] of this.#waits)
      if (![...owners].some((owner) => this.#isBehind(owner, source))) {
        this.#waits.delete(source);
        this.#onFree(source);
      }
  }
}
