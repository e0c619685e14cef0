import type { SourceEvent } from './source-events.ts';
import { followedRef, type ServeSource, sourceNameOf } from './source-options.ts';

export interface SharedCommitsOptions {
  /** Called when another source has read a commit that this source should read, too: it should fetch now. */
  readonly onExpected: (source: string) => void;
  /** Called when a source fetched and found no other commit. */
  readonly onMissed: (source: string) => void;
}

/**
 * Sources that follow the same ref of the same repository. One push changes all of them, but each reads the commit
 * independently. Between the first and the last of these reads the hub shows a part of the commit.
 */
export class SharedCommits {
  readonly #options: SharedCommitsOptions;
  /** By source, the others that follow the same ref. */
  readonly #others = new Map<string, readonly string[]>();
  /** By source, the commit that it last read. */
  readonly #read = new Map<string, string>();
  /** Sources that are expected to read a commit, and whether they have started to fetch. */
  readonly #expected = new Map<string, { hasBegun: boolean }>();

  constructor(sources: readonly ServeSource[], options: SharedCommitsOptions) {
    this.#options = options;
    for (const source of sources) {
      const same = sources.filter((other) => other !== source && followedRef(other) === followedRef(source));
      this.#others.set(sourceNameOf(source), same.map(sourceNameOf));
    }
  }

  handle(event: SourceEvent): void {
    const { kind, source } = event;
    if (kind === 'read') this.#commitRead(source, event.content.commit?.id);
    const expected = this.#expected.get(source);
    if (expected === undefined) return;
    if (kind === 'fetching') expected.hasBegun = true;
    else if ((kind === 'followed' || kind === 'failed') && expected.hasBegun) {
      this.#expected.delete(source);
      this.#options.onMissed(source);
    }
  }

  #commitRead(source: string, commit: string | undefined): void {
    if (commit === undefined) return;
    this.#read.set(source, commit);
    this.#expected.delete(source);
    for (const other of this.#others.get(source) ?? []) {
      if (this.#read.get(other) === commit || this.#expected.has(other)) continue;
      this.#expected.set(other, { hasBegun: false });
      this.#options.onExpected(other);
    }
  }
}
