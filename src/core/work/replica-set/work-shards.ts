import type { Digest } from '../../publish/approval/approval-code.ts';

/**
 * The namespaces are divided into so many shares. It never changes: processes with different numbers would write the
 * same works. Two, three, four and six processes have equally many.
 */
export const WORK_SHARDS = 12;

/** The share of a namespace: 0 to 11, the same in every process. */
export function shardOf(digest: Digest, namespace: string): number {
  return Number.parseInt(digest(namespace).slice(0, 8), 16) % WORK_SHARDS;
}

/** The name of the Lease of a share. */
export function shardLease(lease: string, shard: number): string {
  return `${lease}-works-${shard}`;
}

/** The name of the Lease in whose annotations the processes say that they live. */
export function processesLease(lease: string): string {
  return `${lease}-works`;
}

/** All Leases of the shares, for the rights on them. */
export function workLeases(lease: string): readonly string[] {
  const shards = Array.from({ length: WORK_SHARDS }, (_, shard) => shardLease(lease, shard));
  return [processesLease(lease), ...shards];
}

/** How many shares each of so many processes may have. */
export function fairShare(processes: number): number {
  return Math.ceil(WORK_SHARDS / processes);
}
