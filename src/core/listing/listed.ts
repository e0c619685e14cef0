/** A table of objects of the hub: what `berth get` prints. */
export interface Listed {
  readonly header: readonly string[];
  /** Each row has one cell for each column of the header. */
  readonly rows: readonly (readonly string[])[];
}

/**
 * Age the way kubectl prints it: `42s`, `5m10s`, `3h`, `12d`. Empty for a time that is not known.
 * @param since RFC 3339
 */
export function ageSince(since: string | null | undefined, nowMs: number): string {
  const sinceMs = Date.parse(since ?? '');
  if (Number.isNaN(sinceMs)) return '';
  const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
