import { formatNameList } from '@berth/runtime/text/name-list';
import type { Condition } from '@berth/kube/model/object-meta';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { clusterChange } from '@berth/placement/result/cluster-change';
import { HELD_CONDITION } from '@berth/placement/explain/verdict/names-on-placements';
import { REMEDY_BEGINS } from '../approval/approval-code.ts';
import { RELEASE_ANNOTATION } from '../approval/publish-annotations.ts';
import { type RemovalBudget, removalLimit } from './removal-budget.ts';

export type HoldReason =
  | 'Misconfigured'
  | 'InventoryStale'
  | 'WouldEmpty'
  | 'RemovalBudgetExceeded'
  | 'DiffersFromPlan'
  | 'MoveTimedOut'
  | 'SecondWriter';

export interface Hold {
  readonly kind: 'held';
  readonly reason: HoldReason;
  /** The change, its numbers, and what the user can do. */
  readonly message: string;
  /** The end of the message: what the user can do. Absent: nothing in particular. */
  readonly remedy?: string | undefined;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly code: string;
}

export type PublicationVerdict =
  | {
      readonly kind: 'publish';
      readonly added: readonly string[];
      readonly removed: readonly string[];
      /**
       * Approval code of the release that approved the change; without it the change might be held.
       */
      readonly releasedCode: string | undefined;
    }
  | Hold;

export interface JudgeInput {
  readonly result: ScheduleResult;
  /** The published clusters, each once. Undefined if nothing was ever published. */
  readonly published: readonly string[] | undefined;
  /** Whether the spec changed since the last publication. False if this is unknown. */
  readonly specChanged: boolean;
  readonly budget: RemovalBudget;
  /**
   * How many clusters other changes removed in the last minutes. They count together with this
   * change, so that many small changes cannot avoid the budget.
   */
  readonly recentlyRemoved: number;
  /** Why the inventory cannot be trusted now; undefined when it is fresh and complete. */
  readonly inventoryProblem: string | undefined;
  /** Approval code of this change. A function, because the code is rarely needed. */
  readonly code: () => string;
  /** Codes of the releases in Git and of the releases by users. */
  readonly releasedCodes: readonly (string | undefined)[];
}

/**
 * Decides whether a result may be published or is held. The checks that need the
 * least knowledge come first.
 */
export function judgeResult(input: JudgeInput): PublicationVerdict {
  const { result, published } = input;
  const before = published ?? [];
  const { added, removed } = clusterChange(before, result.selected);
  const hold = (reason: HoldReason, problem: string, remedy: string): Hold => ({
    kind: 'held',
    reason,
    message: `${problem} ${remedy}`,
    remedy,
    added,
    removed,
    code: input.code(),
  });

  if (input.inventoryProblem !== undefined && (added.length + removed.length > 0 || published === undefined))
    return hold(
      'InventoryStale',
      `What this depends on cannot be read: ${input.inventoryProblem}.`,
      'Berth tries again; the last decision stays published.',
    );
  const releasedCode = input.releasedCodes.find((code) => code !== undefined && code === input.code());
  if (releasedCode !== undefined) return { kind: 'publish', added, removed, releasedCode };
  if (result.outcome === 'misconfigured' && (published === undefined || removed.length > 0))
    return hold(
      'Misconfigured',
      `${misconfiguration(result)}; ${stillPublishedText(before.length)}.`,
      removed.length === 0
        ? 'Correct the placement.'
        : `Correct the placement. To remove its clusters anyway, ${releaseInstruction(result.placement.metadata, input.code())}`,
    );
  if (removed.length > 0 && result.selected.length === 0 && !asksForNone(result)) {
    const why = input.specChanged
      ? 'because the changed placement selects no cluster (numberOfClusters: 0 would ask for that)'
      : 'though nobody edited the placement';
    const text =
      before.length === 1
        ? `It would leave its only cluster, ${before[0] ?? ''}, ${why}.`
        : `It would leave all its ${before.length} clusters, ${why}: ${formatNameList(removed)}.`;
    return hold('WouldEmpty', text, remediation(result.placement.metadata, input.code()));
  }
  if (removed.length > 0 && !asksForNone(result)) {
    const limit = removalLimit(input.budget, before.length + input.recentlyRemoved);
    const total = removed.length + input.recentlyRemoved;
    if (total > limit) {
      const earlier = input.recentlyRemoved > 0 ? `, after ${input.recentlyRemoved} in the last minutes` : '';
      return hold(
        'RemovalBudgetExceeded',
        `${removed.length} of ${before.length} clusters would be removed${earlier} (budget ${limit}): ${formatNameList(removed)}.`,
        remediation(result.placement.metadata, input.code()),
      );
    }
  }
  return { kind: 'publish', added, removed, releasedCode };
}

/** The holds whose message says why clusters would be removed. */
const EXPLAINED = new Set<HoldReason>(['WouldEmpty', 'RemovalBudgetExceeded', 'DiffersFromPlan']);
const MAX_EXPLAINED_CLUSTERS = 10;
const MAX_REASONS = 5;

/** Adds to a hold why the first clusters would be removed; returns other holds unchanged. */
export function addHoldReasons(
  hold: Hold,
  reasonsOf: (clusters: readonly string[]) => readonly {
    readonly because: string;
    readonly clusters: readonly string[];
  }[],
): Hold {
  if (!EXPLAINED.has(hold.reason)) return hold;
  const reasons = reasonsOf(hold.removed.slice(0, MAX_EXPLAINED_CLUSTERS)).slice(0, MAX_REASONS);
  if (reasons.length === 0) return hold;
  const text = reasons.map(({ because, clusters }) => `${clusters.join(', ')} (${because})`).join('; ');
  const { message, remedy = '' } = hold;
  const problem = message.slice(0, message.length - remedy.length).trimEnd();
  // The remedy ends with a command, which must be easy to copy.
  return { ...hold, message: [problem, `Why: ${text}.`, remedy].join(' ').trimEnd() };
}

/**
 * The condition of the Placement for a hold. When the hold ends, an existing condition becomes
 * False. A new condition is never added as False.
 */
export function heldCondition(
  hold: Hold | undefined,
  existing: Condition | undefined,
): Condition | undefined {
  if (hold !== undefined)
    return { type: HELD_CONDITION, status: 'True', reason: hold.reason, message: hold.message };
  if (existing === undefined) return undefined;
  return { type: HELD_CONDITION, status: 'False', reason: 'Published', message: '' };
}

/** Only `numberOfClusters: 0` asks for an empty decision. */
function asksForNone({ placement }: ScheduleResult): boolean {
  return placement.spec?.numberOfClusters === 0;
}

function misconfiguration(result: ScheduleResult): string {
  return (
    result.conditions.find((condition) => condition.type === 'PlacementMisconfigured')?.message ??
    'The placement is misconfigured'
  );
}

function stillPublishedText(count: number): string {
  return count === 0
    ? 'nothing is published'
    : `the last decision (${count} ${count === 1 ? 'cluster' : 'clusters'}) stays published`;
}

/** What a user can do about a held change. */
export function remediation(
  meta: { readonly namespace?: string | undefined; readonly name: string },
  code: string,
): string {
  return `The last decision stays published. ${REMEDY_BEGINS} ${releaseInstruction(meta, code)}`;
}

function releaseInstruction(meta: Parameters<typeof remediation>[0], code: string): string {
  return `set the annotation ${RELEASE_ANNOTATION}: "${code}" on the placement in Git, or run: ${releaseCommand(meta, code)}`;
}

/** The command that approves a held change; a remedy that names it ends with it. */
export function releaseCommand(meta: Parameters<typeof remediation>[0], code: string): string {
  return `berth release ${meta.namespace ?? ''}/${meta.name} --token ${code}`;
}
