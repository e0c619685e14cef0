import type { ObjectMeta } from '@berth/kube/model/object-meta';
import { formatNameList } from '@berth/runtime/text/name-list';
import { REMEDY_BEGINS } from '../approval/approval-code.ts';
import { releaseCodes } from '../approval/approved-plans.ts';
import { RELEASE_ANNOTATION } from '../approval/publish-annotations.ts';

/** How many clusters or objects one change may remove: the larger of the two numbers. */
export interface RemovalBudget {
  /**
   * Percentage of the clusters published before the change. The resulting number is rounded down.
   */
  readonly percent: number;
  readonly atLeast: number;
}

export const DEFAULT_REMOVAL_BUDGET: RemovalBudget = { percent: 25, atLeast: 2 };

/**
 * Parses a percentage such as `25%`, or a plain number of clusters. A percentage keeps the
 * `atLeast` of the default budget. Undefined for any other text.
 */
export function parseRemovalBudget(text: string): RemovalBudget | undefined {
  const match = /^(\d{1,7})(%?)$/.exec(text.trim());
  if (match === null) return undefined;
  const value = Number(match[1]);
  if (match[2] === '') return { percent: 0, atLeast: value };
  return value <= 100 ? { percent: value, atLeast: DEFAULT_REMOVAL_BUDGET.atLeast } : undefined;
}

/** How many of `published` may be removed. */
export function removalLimit(budget: RemovalBudget, published: number): number {
  return Math.max(budget.atLeast, Math.floor((published * budget.percent) / 100));
}

/** One earlier removal from a placement. */
export interface Removal {
  readonly atMs: number;
  readonly count: number;
}

/** The ConfigMap in Berth's namespace that has them, where they are stored on the hub. */
export const REMOVALS_CONFIG_MAP = 'berth-pull-removals';

/** Recent removals by group. They must survive a restart and a change of leader. */
export interface RemovalMemory {
  read(group: string): Promise<readonly Removal[]>;
  /** Resolves when the removals are stored. Nothing is removed before. */
  persist(group: string, removals: readonly Removal[]): Promise<void>;
}

/**
 * Removals within this time count as one change, so that a drain of one cluster after the other
 * counts as one drain.
 */
export const REMOVAL_WINDOW_MS = 600_000;

/**
 * The removals within the window before `nowMs`, plus removals in the future, which exist if the
 * clock was set back.
 */
export function recentRemovals(removals: readonly Removal[], nowMs: number): readonly Removal[] {
  return removals.filter((removal) => nowMs - removal.atMs < REMOVAL_WINDOW_MS);
}

export function removedRecently(removals: readonly Removal[], nowMs: number): number {
  return recentRemovals(removals, nowMs).reduce((sum, removal) => sum + removal.count, 0);
}

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
interface RemovalWords {
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
