import type { Digest } from '../../publish/approval/approval-code.ts';

/**
 * The namespaces are divided into so many shares. It never changes: processes with different numbers would write the
 * same works. Two, three, four and six processes have equally many.
 */
export const WORK_SHARES = 12;

/** The share of a namespace: 0 to 11, the same in every process. */
export function shareOf(digest: Digest, namespace: string): number {
  return Number.parseInt(digest(namespace).slice(0, 8), 16) % WORK_SHARES;
}

/** The name of the Lease of a share. */
export function shareLease(lease: string, share: number): string {
  return `${lease}-works-${share}`;
}

/** The name of the Lease in whose annotations the processes say that they live. */
export function processesLease(lease: string): string {
  return `${lease}-works`;
}

/** All Leases of the shares, for the rights on them. */
export function workLeases(lease: string): readonly string[] {
  const shares = Array.from({ length: WORK_SHARES }, (_, share) => shareLease(lease, share));
  return [processesLease(lease), ...shares];
}

/** How many shares each of so many processes may have. */
export function sharesOfOne(processes: number): number {
  return Math.ceil(WORK_SHARES / processes);
}
