import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { DesiredGroup } from '../pages/decision-page.ts';
import type { Digest } from '../approval/approval-code.ts';

/** The record of one publication. Plain JSON; `hash` identifies it and covers all other fields. */
export interface DecisionRecord {
  readonly hash: string;
  /** `namespace/name` */
  readonly placement: string;
  /** Digest of the placement's spec. Absent in records of earlier versions. */
  readonly spec?: string | undefined;
  /** RFC 3339 */
  readonly publishedAt: string;
  readonly engineVersion: string;
  /** Commit that the hub was last synced to, with its author; null when objects come from elsewhere. */
  readonly commit: { readonly id: string; readonly author: string; readonly subject: string } | null;
  /** Revision of the inventory: the number of object changes since the start. */
  readonly inventoryRevision: number;
  /** Hash of the inputs. The inputs are stored under this hash. */
  readonly inputs: string;
  /** JSON of the decision, which a replay must reproduce byte for byte. */
  readonly decided: string;
  /** How many clusters were published. */
  readonly clusters: number;
  /** The published groups if they differ from the decision (during a handover); otherwise null. */
  readonly published: readonly DesiredGroup[] | null;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Approval code of the release that approved this, and its user. */
  readonly released: { readonly token: string; readonly by: string } | null;
  /**
   * The record was made later: after a restart, because the controller was killed after it published
   * and before it wrote the record, or before the next publication, because the last answer of this
   * one was lost. Inputs and decision are those of that time. The commit is the last one that was
   * read.
   */
  readonly afterRestart?: true | undefined;
  /**
   * Only with `afterRestart`: the change was announced before it was made, so its removals count
   * toward the budget.
   */
  readonly counts?: true | undefined;
}

/**
 * A record and its JSON text. The text is large, so it is made once for both the hash and the
 * storage.
 */
export interface SealedRecord {
  readonly record: DecisionRecord;
  readonly text: string;
}

/** Adds the hash to a record. The hash covers the fields in their order in the record. */
export function sealRecord(digest: Digest, record: Omit<DecisionRecord, 'hash'>): SealedRecord {
  const text = JSON.stringify(record);
  const hash = digest(text).slice(0, 16);
  return { record: { hash, ...record }, text: `{"hash":"${hash}",${text.slice(1)}` };
}

/**
 * The part of a result that a replay compares: the decision without the placement. Keys have a
 * fixed order.
 */
export function decidedText(result: ScheduleResult): string {
  const { outcome, selected, selectedScores, unscheduled, requeueAtMs } = result;
  const { code, plugin, message } = result.status;
  const groups = result.groups.map(({ index, name, clusters }) => ({ index, name, clusters }));
  const conditions = result.conditions.map((condition) => [
    condition.type,
    condition.status,
    condition.reason,
    condition.message,
  ]);
  const status = { code, plugin, message };
  return JSON.stringify({
    outcome,
    status,
    selected,
    selectedScores,
    unscheduled,
    groups,
    conditions,
    requeueAtMs,
  });
}
