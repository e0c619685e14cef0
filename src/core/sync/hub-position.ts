import { isNewerResourceVersion } from '../model/resource-version.ts';

/** The last seen position in the history of a hub. Plain JSON. */
export interface HubPosition {
  /** Of the namespace kube-system, which is never deleted: it names the hub. */
  readonly uid: string;
  /** The newest one that was seen. */
  readonly resourceVersion: string;
}

/** `replaced`: another hub answers at the address. `restored`: the same one, from a backup that is older than what was seen. */
export type HubBreak = 'replaced' | 'restored';

/**
 * What happened to the hub between two positions; undefined: its history continued. Resource versions count as
 * ordered only where both are decimal numbers (KEP-5504).
 */
export function detectHubBreak(before: HubPosition | undefined, now: HubPosition): HubBreak | undefined {
  if (before === undefined) return undefined;
  if (before.uid !== now.uid) return 'replaced';
  return isNewerResourceVersion(before.resourceVersion, now.resourceVersion) ? 'restored' : undefined;
}

/** The position with the newest of these versions; what is no number is left out. */
export function withNewestVersion(
  position: HubPosition,
  versions: readonly (string | undefined)[],
): HubPosition {
  let { resourceVersion } = position;
  for (const version of versions)
    if (version !== undefined && isNewerResourceVersion(version, resourceVersion)) resourceVersion = version;
  return { ...position, resourceVersion };
}
