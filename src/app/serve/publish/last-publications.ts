import type { Placement } from '../../../core/model/placement.ts';
import type { DecisionPage } from '../../../core/publish/decision-page.ts';
import type { LastPublication } from '../../../core/publish/last-publication.ts';
import type { SettledPage } from '../../../core/publish/plan-pages.ts';
import { recordedPublication } from '../../../core/publish/recorded-publication.ts';
import type { PublisherDependencies } from './publisher-dependencies.ts';

interface Entry extends LastPublication {
  /** Of the placement: one that is made anew under the same name begins without a past. */
  readonly uid: string | undefined;
}

type LastPublicationsDependencies = Pick<
  PublisherDependencies,
  'memory' | 'unrecorded' | 'isHubRestored' | 'beforeRestore'
>;

/** What was published last of each placement, so that it can be told from what others made of it. */
export class LastPublications {
  readonly #deps: LastPublicationsDependencies;
  readonly #entries = new Map<string, Entry>();

  constructor(deps: LastPublicationsDependencies) {
    this.#deps = deps;
  }

  /** Undefined: nobody remembers. @param pages as they stand on the hub; asked for at the first look after a start */
  of(key: string, placement: Placement, pages: readonly DecisionPage[]): LastPublication | undefined {
    const { uid } = placement.metadata;
    const known = this.#entries.get(key);
    if (known !== undefined) return known.uid === uid ? known : undefined;
    const { memory, unrecorded, isHubRestored, beforeRestore } = this.#deps;
    const others = beforeRestore?.of(key, uid);
    const recorded = recordedPublication({
      record: unrecorded.lastRecordOf(key),
      state: memory.get(key),
      placement,
      pages,
      isHubRestored: isHubRestored(),
    });
    const last = recorded ?? (others && { pages: others, leaving: undefined });
    // Kept: the record is at hand for the first look only, and what comes next may fail.
    if (last !== undefined) this.#entries.set(key, { uid, ...last });
    return last;
  }

  /** Without looking into the records. */
  known(key: string, placement: Placement): LastPublication | undefined {
    const known = this.#entries.get(key);
    return known?.uid === placement.metadata.uid ? known : undefined;
  }

  /** All writes are done: the hub shows these pages. */
  settled(key: string, placement: Placement, pages: readonly SettledPage[]): void {
    this.#entries.set(key, { uid: placement.metadata.uid, pages, leaving: undefined });
  }

  /**
   * Writes failed, or nobody knows.
   * @param published before the first of them
   * @param leaving what they were to take away
   */
  cutShort(
    key: string,
    placement: Placement,
    published: readonly SettledPage[],
    leaving: readonly string[],
  ): void {
    this.#entries.set(key, { uid: placement.metadata.uid, pages: published, leaving });
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }
}
