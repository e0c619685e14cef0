import { isNewerResourceVersion } from '../../model/resource-version.ts';
import { decisionPageOf, hasGroup } from '../pages/decision-page.ts';
import type { SeenAtRestore, WatchedChange } from './state/placement-event.ts';
import type { BeforeRestore, PlacementState } from './state/placement-state.ts';
import { currentPages } from './state/current-pages.ts';

/**
 * For a standby: the decisions that the leader had published when the hub was restored from a
 * backup. If this process becomes the leader, it judges changes by these instead of the older pages
 * of the backup. They are dropped when a leader has published since.
 */

/** The state after a restore. After two restores in a row the pages are those of the first backup. */
export function keptBeforeRestore(
  state: PlacementState,
  standby: SeenAtRestore | undefined,
): BeforeRestore | undefined {
  const { beforeRestore: earlier } = state;
  if (standby === undefined) return earlier;
  const { hubVersion, seen } = standby;
  if (earlier !== undefined) return { ...earlier, hubVersion };
  if (seen === undefined) return undefined;
  const { uid } = seen.placement.metadata;
  const pages = currentPages(state, seen).map((page) => decisionPageOf(page, uid));
  // A page with an unknown group was changed by another writer.
  return pages.length > 0 && pages.every(hasGroup) ? { uid, pages, hubVersion } : undefined;
}

/** The state after a page changed, by the restore or by a leader. */
export function keptAfterChange(
  kept: BeforeRestore | undefined,
  change: WatchedChange,
): BeforeRestore | undefined {
  return kept !== undefined && isSinceRestore(kept.hubVersion, change) ? undefined : kept;
}

/** A page that the restore removes was written after the backup. One of the backup can only be deleted after the restore. */
function isSinceRestore(hubVersion: string, { before, after }: WatchedChange): boolean {
  const isNew = (object = after): boolean =>
    isNewerResourceVersion(object?.metadata.resourceVersion ?? '', hubVersion);
  return after === undefined ? !isNew(before) : isNew(after);
}
