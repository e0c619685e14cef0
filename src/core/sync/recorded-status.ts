import { ADDON_PLACEMENT_SCORE, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import { mergePatch } from '@berth/runtime/json/merge-patch';
import { containsAll } from './desired-object.ts';

const KINDS: ReadonlySet<string> = new Set([MANAGED_CLUSTER.kind, ADDON_PLACEMENT_SCORE.kind]);

/** Whether the status that Git records of a kind is written to a hub without agents. */
export function isStatusRecorded(kind: string): boolean {
  return KINDS.has(kind);
}

/** Whether the status that Git records is to be written: the hub has another one. */
export function lacksRecordedStatus(live: unknown, recorded: unknown): boolean {
  return recorded !== undefined && !containsAll(live, recorded);
}

/** The status after the recorded one is written. Fields that Git does not record stay. */
export function withRecordedStatus<T>(live: T, recorded: unknown): T {
  return lacksRecordedStatus(live, recorded) ? (mergePatch(live, recorded) as T) : live;
}
