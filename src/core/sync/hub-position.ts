import { isNewerResourceVersion } from '@berth/kube/model/resource-version';

/** The last seen position in the history of a hub. Plain JSON. */
export interface HubPosition {
  /** The uid of the namespace kube-system. It identifies the hub, because that namespace is never deleted. */
  readonly uid: string;
  /** The newest one that was seen. */
  readonly resourceVersion: string;
  /** The newest resource version of each backup from which the hub was restored, oldest first. */
  readonly restoredTo?: readonly string[] | undefined;
}

/**
 * `replaced`: another hub has the address. `restored`: the same hub, from a backup that is older
 * than its seen state.
 */
export type HubBreak = 'replaced' | 'restored';

/**
 * Whether the history of the hub broke between two positions; undefined: it continued. Resource
 * versions count as ordered only where both are decimal numbers (KEP-5504).
 */
export function detectHubBreak(before: HubPosition | undefined, now: HubPosition): HubBreak | undefined {
  if (before === undefined) return undefined;
  if (before.uid !== now.uid) return 'replaced';
  return isNewerResourceVersion(before.resourceVersion, now.resourceVersion) ? 'restored' : undefined;
}

/** The position with the newest of these versions; versions that are not numbers are ignored. */
export function withNewestVersion(
  position: HubPosition,
  versions: readonly (string | undefined)[],
): HubPosition {
  let { resourceVersion } = position;
  for (const version of versions)
    if (version !== undefined && isNewerResourceVersion(version, resourceVersion)) resourceVersion = version;
  return { ...position, resourceVersion };
}
