import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { ReceivedObjects, SentObjects } from './numbered-objects.ts';
import { type NumberedObjects } from './numbered-objects.ts';

type ListName = 'placements' | 'clusters' | 'clusterSets' | 'bindings' | 'decisions' | 'scores';

/** A snapshot for a process that has most of its objects already. */
export type SentSnapshot = Omit<Snapshot, ListName> & Readonly<Record<ListName, NumberedObjects>>;

/** @param sent the objects that the other side has */
export function packSnapshot(snapshot: Snapshot, sent: SentObjects): SentSnapshot {
  return { ...snapshot, ...sent.pack(listsOf(snapshot)) };
}

/** @param received the objects that were received before */
export function unpackSnapshot(snapshot: SentSnapshot, received: ReceivedObjects): Snapshot {
  const lists = received.unpack(listsOf(snapshot)) as unknown as Pick<Snapshot, ListName>;
  return { ...snapshot, ...lists };
}

function listsOf<T extends Readonly<Record<ListName, unknown>>>(snapshot: T): Pick<T, ListName> {
  const { placements, clusters, clusterSets, bindings, decisions, scores } = snapshot;
  return { placements, clusters, clusterSets, bindings, decisions, scores };
}
