import { isNewerResourceVersion } from '@berth/kube/model/resource-version';
import { decisionPageOf, hasGroup, listedClusters } from '../pages/decision-page.ts';
import { listClustersOnce } from '../record/last-publication.ts';
import type { SeenAtRestore, WatchedChange } from './state/placement-event.ts';
import type { BeforeRestore, PlacementState } from './state/placement-state.ts';
import { currentPages, newestPageVersion } from './state/own-writes.ts';

/*
 * A process may not know the last publication when the hub is restored from a backup: a standby, or
 * a leader that has just started. It then remembers the decisions that it saw on the pages before
 * the restore. A leader judges changes by these decisions instead of the older pages of the backup.
 * The process drops them when somebody changes a page after the restore: mostly the leader, whose
 * write the watch may show after this process took over. It also drops them when the backup is
 * newer: its watch was late when the hub was restored.
 */

/**
 * The decisions to remember after a restore. After a second restore in a row these are still the
 * decisions before the first one, because the pages are those of the first backup.
 */
export function rememberBeforeRestore(
  state: PlacementState,
  atRestore: SeenAtRestore | undefined,
): BeforeRestore | undefined {
  const { beforeRestore: earlier, last } = state;
  if (atRestore === undefined || last !== undefined) return earlier;
  const { hubVersion, seen } = atRestore;
  if (earlier !== undefined) return { ...earlier, hubVersion };
  if (seen === undefined) return undefined;
  const { uid } = seen.placement.metadata;
  const objects = currentPages(state, seen);
  const pages = objects.map((page) => decisionPageOf(page, uid));
  // A page with an unknown group was changed by another writer.
  if (pages.length === 0 || !pages.every(hasGroup)) return undefined;
  const published = listClustersOnce(pages).pages;
  // The status is written last. If it counts more clusters, others removed some, or the watch is late.
  const { numberOfSelectedClusters = 0 } = seen.placement.status ?? {};
  if (numberOfSelectedClusters > listedClusters(published).length) return undefined;
  return { uid, pages: published, pagesVersion: newestPageVersion(objects), hubVersion };
}

/** The decisions to remember after the restore or somebody changed a page. */
export function rememberAfterChange(
  kept: BeforeRestore | undefined,
  change: WatchedChange,
): BeforeRestore | undefined {
  if (kept === undefined) return undefined;
  const isOutdated = isOfNewerBackup(kept, change) || isSinceRestore(kept.hubVersion, change);
  return isOutdated ? undefined : kept;
}

/** Whether the backup has a page that is newer than all pages that this process saw before the restore. */
function isOfNewerBackup({ pagesVersion, hubVersion }: BeforeRestore, { after }: WatchedChange): boolean {
  const version = after?.metadata.resourceVersion ?? '';
  return isNewerResourceVersion(version, pagesVersion) && !isNewerResourceVersion(version, hubVersion);
}

/**
 * Whether a leader made the change after the restore. The restore itself removes pages that are
 * newer than the backup. Only a leader deletes pages of the backup.
 */
function isSinceRestore(hubVersion: string, { before, after }: WatchedChange): boolean {
  const isNew = (object = after): boolean =>
    isNewerResourceVersion(object?.metadata.resourceVersion ?? '', hubVersion);
  return after === undefined ? !isNew(before) : isNew(after);
}
