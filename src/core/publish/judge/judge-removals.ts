import type { ObjectMeta } from '@berth/kube/model/object-meta';
import { formatNameList } from '@berth/runtime/text/name-list';
import { REMEDY_BEGINS } from '../approval/approval-code.ts';
import { releaseCodes } from '../approval/approved-plans.ts';
import { RELEASE_ANNOTATION } from '../approval/publish-annotations.ts';
import { removalLimit, removedRecently, type Removal, type RemovalBudget } from './removal-budget.ts';

/** What leaves together: the works of an ApplicationSet, or an add-on from clusters. */
export interface LeavingGroup {
  /** How many there are that do not leave already, those included that would. */
  readonly present: number;
  /** Those that count toward the budget. The approval code is on one of them, and goes with it. */
  readonly leaving: readonly Pick<ObjectMeta, 'annotations'>[];
  /** For the message, sorted. */
  readonly names: readonly string[];
  /** Approves exactly this removal. */
  readonly code: string;
  /** Earlier removals of the group. */
  readonly removals: readonly Removal[];
  readonly budget: RemovalBudget;
  readonly nowMs: number;
}

/** The parts of the message that differ. */
export interface RemovalWords {
  /** Goes on after the numbers: `clusters would lose add-on hello`. */
  readonly what: string;
  /** A sentence. */
  readonly stay: string;
  /** Without the code. */
  readonly command: string;
  /** Where the annotation may be set, too: `one of them`. */
  readonly carrier: string;
}

export type RemovalVerdict =
  | { readonly kind: 'remove' /** How many count toward the budget. */; readonly counted: number }
  | {
      readonly kind: 'held';
      readonly code: string;
      readonly message: string;
      /** The part of the message that says how a person approves it. */
      readonly remedy: string;
    };

/** Decides whether all of a group may leave, or none: within the budget, or released by the approval code. */
export function judgeRemovals(group: LeavingGroup, words: RemovalWords): RemovalVerdict {
  const { present, leaving, names, code, removals, budget, nowMs } = group;
  const recent = removedRecently(removals, nowMs);
  const limit = removalLimit(budget, present + recent);
  if (leaving.length === 0 || leaving.length + recent <= limit)
    return { kind: 'remove', counted: leaving.length };
  if (leaving.some((metadata) => releaseCodes(metadata).includes(code)))
    return { kind: 'remove', counted: 0 };
  const earlier = recent > 0 ? `, after ${recent} in the last minutes` : '';
  const remedy =
    `${REMEDY_BEGINS} set the annotation ${RELEASE_ANNOTATION}: "${code}" on ${words.carrier}, ` +
    `or run: ${words.command} --token ${code}`;
  const problem = `${leaving.length} of ${present} ${words.what}${earlier} (budget ${limit}): ${formatNameList(names)}.`;
  return { kind: 'held', code, message: `${problem} ${words.stay} ${remedy}`, remedy };
}
