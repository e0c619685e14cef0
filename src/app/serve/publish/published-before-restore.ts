import type { ObjectChange } from '../../../adapters/kube/object-store.ts';
import type { Placement } from '../../../core/model/placement.ts';
import { namespacedName } from '../../../core/model/object-ref.ts';
import { type DecisionPage, decisionPageOf } from '../../../core/publish/decision-page.ts';
import type { SettledPage } from '../../../core/publish/plan-pages.ts';
import { isNewer } from '../../../core/sync/hub-position.ts';
import { type DecisionView, placementsOf } from './decision-view.ts';

interface Entry {
  /** Of the placement. */
  readonly uid: string | undefined;
  readonly pages: readonly SettledPage[];
}

function hasGroup(page: DecisionPage): page is DecisionPage & SettledPage {
  return page.group !== undefined;
}

/**
 * For a process that stands by: what the leader had published when the hub was restored from a backup. If this process takes over,
 * changes are judged by that and not by the older pages of the backup. A placement that a leader has published since is left out.
 */
export class PublishedBeforeRestore {
  readonly #entries = new Map<string, Entry>();
  /** Of the hub after the restore. */
  #hubVersion = '';

  /**
   * To be called before the watches show the restored hub.
   * @param hubVersion newest resource version of the restored hub
   */
  keep(placements: readonly Placement[], view: Pick<DecisionView, 'pagesOf'>, hubVersion: string): void {
    this.#hubVersion = hubVersion;
    for (const { metadata } of placements) {
      const key = namespacedName(metadata);
      // After a restore that was followed by another one the pages are those of the first backup.
      if (this.#entries.has(key)) continue;
      const pages = view.pagesOf(key).map((page) => decisionPageOf(page, metadata.uid));
      // A page whose group nobody knows is what others made of it.
      if (pages.length > 0 && pages.every(hasGroup)) this.#entries.set(key, { uid: metadata.uid, pages });
    }
  }

  /** A page changed, by the restore or by a leader. */
  saw(change: Pick<ObjectChange, 'before' | 'after'>): void {
    if (this.#entries.size > 0 && this.#isSinceRestore(change))
      for (const placement of placementsOf(change)) this.#entries.delete(placement);
  }

  of(key: string, uid: string | undefined): readonly SettledPage[] | undefined {
    const entry = this.#entries.get(key);
    return entry?.uid === uid ? entry?.pages : undefined;
  }

  /** A page that the restore removes was written after the backup. One of the backup can only be deleted after the restore. */
  #isSinceRestore({ before, after }: Pick<ObjectChange, 'before' | 'after'>): boolean {
    const isNew = (object = after): boolean =>
      isNewer(object?.metadata.resourceVersion ?? '', this.#hubVersion);
    return after === undefined ? !isNew(before) : isNew(after);
  }
}
