import type { ScheduleResult } from '../placement/schedule-result.ts';
import { canonicalJson } from '../work/json-equal.ts';
import type { DesiredGroup } from './decision-page.ts';
import type { Digest } from './plan-token.ts';

/** What is kept of one publication. Plain JSON; `hash` identifies it and covers everything else in it. */
export interface DecisionRecord {
  readonly hash: string;
  /** `namespace/name` */
  readonly placement: string;
  /** RFC 3339 */
  readonly publishedAt: string;
  readonly engineVersion: string;
  /** Commit that the hub was last synced to, with its author; null when objects come from elsewhere. */
  readonly commit: { readonly id: string; readonly author: string; readonly subject: string } | null;
  /** Revision of the inventory: one more with every object that changed since the start. */
  readonly inventoryRevision: number;
  /** Hash of the inputs; they are kept under it. */
  readonly inputs: string;
  /** Canonical JSON of what the engine decided: what a replay must give, byte for byte. */
  readonly decided: string;
  /** What was written, which differs from `decided` while a move is under way. */
  readonly published: readonly DesiredGroup[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Plan token of a release that let this through, and who released. */
  readonly released: { readonly token: string; readonly by: string } | null;
}

export function sealRecord(digest: Digest, record: Omit<DecisionRecord, 'hash'>): DecisionRecord {
  return { hash: digest(canonicalJson(record)).slice(0, 16), ...record };
}

/** The part of a result that a replay compares: the decision, not the object it was made for. */
export function decidedText(result: ScheduleResult): string {
  const { outcome, status, selected, selectedScores, unscheduled, groups, conditions, requeueAtMs } = result;
  return canonicalJson({
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
