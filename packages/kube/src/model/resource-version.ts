/**
 * Whether one resource version is newer than the other. False if one of them is not a decimal
 * number: only these are ordered (KEP-5504).
 */
export function isNewerResourceVersion(version: string, than: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return false;
  return BigInt(version) > BigInt(than);
}

/** Whether a resource version is the other one or newer. If they are not numbers, only an equal one counts. */
export function hasReachedVersion(version: string, other: string): boolean {
  return version === other || isNewerResourceVersion(version, other);
}
