import { parseGoDuration } from '@berth/kube/model/go-duration';
import { withoutPlacementDefaults } from '@berth/ocm/definition/ocm-crds';
import type { Placement } from '@berth/ocm/kind/placement';
import { LEAVING_REASON } from '@berth/placement/explain/text/selection-reason';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { formatNameList } from '@berth/runtime/text/name-list';
import { activeHold, approvalCode, type Digest, unspentCode } from '../approval/approval-code.ts';
import { type ApprovedPlan, releaseCodes } from '../approval/approved-plans.ts';
import {
  HANDOVER_ABORT_ANNOTATION,
  HANDOVER_DEADLINE_ANNOTATION,
  HANDOVER_POLICY_ANNOTATION,
  RELEASE_ANNOTATION,
  RELEASED_ANNOTATION,
  REMOVAL_BUDGET_ANNOTATION,
} from '../approval/publish-annotations.ts';
import {
  type DesiredGroup,
  desiredGroups,
  type ListedPage,
  publishedClusters,
  type ReasonOf,
  sameGroup,
} from '../pages/decision-page.ts';
import { clustersBeforeChange, countedRemovals } from './change-under-way.ts';
import { type Hold, judgeResult, remediation } from './judge-result.ts';
import type { Handover, PublishState } from './publish-state.ts';
import { parseRemovalBudget, removedRecently, type RemovalBudget } from './removal-budget.ts';

/** What the decision about a publication depends on. */
export interface PublicationInput {
  /** `namespace/name` */
  readonly key: string;
  /** The current object on the hub, for its annotations. */
  readonly placement: Placement;
  readonly result: ScheduleResult;
  /** The published pages, which may differ from those on the hub, see `publishedPages`. */
  readonly pages: readonly ListedPage[];
  readonly state: PublishState | undefined;
  readonly budget: RemovalBudget;
  readonly inventoryProblem: string | undefined;
  /** Why Berth cannot tell whether works are ready; undefined if it can. */
  readonly worksProblem?: string | undefined;
  /**
   * The approved plan of the commit that is being applied; undefined when the plan does not concern
   * this placement.
   */
  readonly approved?: ApprovedPlan | undefined;
  /** Whether the work of the placement runs on the cluster (Available or Healthy). */
  readonly isReady: (cluster: string) => boolean;
  /** Absent: pages have no reasons. */
  readonly reasonOf?: ReasonOf | undefined;
  readonly nowMs: number;
  readonly digest: Digest;
}

/** What to publish now, and why the rest of the result waits. */
export interface Publication {
  /** Undefined: the pages stay as they are. */
  readonly groups: readonly DesiredGroup[] | undefined;
  readonly hold: Hold | undefined;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly handover: Handover | undefined;
  /** Approval code of the release that approved this change, if there is one. */
  readonly releasedCode: string | undefined;
  /**
   * How the change compares with the approved plan. `none`: there is no plan, or nothing changes.
   * `differs`: also for a change that is held for another reason while there is a plan.
   */
  readonly approval: 'none' | 'met' | 'differs';
  /** Time after which to decide again, even if nothing changed on the hub. */
  readonly againAfterMs: number | undefined;
}

const DEFAULT_HANDOVER_MS = 600_000;

/** The digests that were computed, by digest function (tests use another one) and placement. */
const SPEC_HASHES = new WeakMap<Digest, WeakMap<Placement, string>>();

/**
 * Digest of the spec without its defaults. A spec in Git and the spec that the hub stores have the
 * same digest. Plans hash the former and the controller hashes the latter. It is computed once for
 * an object, because a publication needs it several times.
 */
export function specHash(digest: Digest, placement: Placement): string {
  let known = SPEC_HASHES.get(digest);
  if (known === undefined) SPEC_HASHES.set(digest, (known = new WeakMap()));
  let hash = known.get(placement);
  if (hash === undefined) {
    hash = digest(canonicalJson(withoutPlacementDefaults(placement.spec ?? {}))).slice(0, 16);
    known.set(placement, hash);
  }
  return hash;
}

/**
 * Decides which clusters may be published now: those of the result, the previous ones while the
 * change is held, or both during a handover.
 */
export function decidePublication(input: PublicationInput): Publication {
  const { key, result, state, digest } = input;
  const annotations = input.placement.metadata.annotations ?? {};
  const published = input.pages.length === 0 ? undefined : publishedClusters(input.pages);
  const plannedCode = (): string => {
    // A handover or an interrupted change keeps its code after part of it was written.
    const arriving = new Set(state?.move?.arriving ?? []);
    const before = clustersBeforeChange(state?.change, published ?? []).filter(
      (cluster) => !arriving.has(cluster),
    );
    return approvalCode(digest, key, before, result.selected);
  };
  const code = (): string => unspentCode(digest, plannedCode(), state?.spent);
  // Computed only when needed. Otherwise every start would hash the specs of all placements.
  const specChanged = (): boolean =>
    state !== undefined && state.specHash !== specHash(digest, result.placement);
  const removals = countedRemovals(state, published ?? []);
  const verdict = judgeResult({
    result,
    published,
    get specChanged() {
      return specChanged();
    },
    budget: parseRemovalBudget(annotations[REMOVAL_BUDGET_ANNOTATION] ?? '') ?? input.budget,
    recentlyRemoved:
      removals.length === 0 || specChanged()
        ? 0
        : removedRecently(removals, heldSinceMs(input) ?? input.nowMs),
    inventoryProblem: input.inventoryProblem,
    code,
    releasedCodes: [...releaseCodes(input.placement.metadata), annotations[RELEASED_ANNOTATION]],
  });
  if (verdict.kind === 'held')
    return {
      ...heldPublication(verdict, state?.move),
      approval: input.approved === undefined ? 'none' : 'differs',
    };
  const { added, removed, releasedCode } = verdict;
  // Only the order or the groups would change, and the inputs are incomplete.
  if (input.inventoryProblem !== undefined) return { ...noChange(state?.move), againAfterMs: STALE_RETRY_MS };
  const approval = compareWithPlan(input.approved, verdict, () => [plannedCode(), code()]);
  if (approval === 'differs' && removed.length > 0)
    return { ...heldPublication(differsFromPlanHold(input, verdict, code()), state?.move), approval };
  const groups = desiredGroups(result, input.reasonOf);
  const plain: Publication = {
    groups,
    hold: undefined,
    added,
    removed,
    handover: undefined,
    releasedCode,
    approval,
    againAfterMs: undefined,
  };
  if (annotations[HANDOVER_POLICY_ANNOTATION] !== 'MakeBeforeBreak' || releasedCode !== undefined)
    return plain;
  if (input.worksProblem !== undefined && removed.length > 0)
    return heldPublication(unreadableWorksHold(input.worksProblem, verdict, code()), state?.move);
  return decideHandover(input, plain, code());
}

/**
 * When a hold because of the removal budget began. Removals are counted as of that time, so such a
 * hold does not expire.
 */
function heldSinceMs({ placement, nowMs }: PublicationInput): number | undefined {
  const held = activeHold(placement);
  if (held?.reason !== 'RemovalBudgetExceeded') return undefined;
  const sinceMs = Date.parse(held.lastTransitionTime ?? '');
  return sinceMs < nowMs ? sinceMs : undefined;
}

type Change = Pick<Publication, 'added' | 'removed' | 'releasedCode'>;

/**
 * Compares the change with the approved plan. A release of this change overrides the plan. If the
 * same change was released before, it has two codes: the code derived from the change, and the
 * unused code that a hold names. A plan may name either.
 */
function compareWithPlan(
  approved: ApprovedPlan | undefined,
  { added, removed, releasedCode }: Change,
  codesOf: () => readonly string[],
): Publication['approval'] {
  if (approved === undefined || added.length + removed.length === 0) return 'none';
  const isApproved = releasedCode !== undefined || codesOf().some((code) => approved.tokens.includes(code));
  return isApproved ? 'met' : 'differs';
}

function differsFromPlanHold(
  { approved, pages, placement }: PublicationInput,
  change: Change,
  code: string,
): Hold {
  const { added, removed } = change;
  const commit = approved?.commit === undefined ? 'the commit' : `commit ${approved.commit.slice(0, 12)}`;
  const more = added.length === 0 ? '' : `, ${added.length} would be added: ${formatNameList(added)}`;
  const remedy = remediation(placement.metadata, code);
  const message =
    `This is not the plan that ${commit} was approved with (${approved?.tokens.join(', ')}): ${removed.length} of ` +
    `${publishedClusters(pages).length} clusters would be removed: ${formatNameList(removed)}${more}. ${remedy}`;
  return { kind: 'held', reason: 'DiffersFromPlan', message, remedy, added, removed, code };
}

function unreadableWorksHold(problem: string, { added, removed }: Change, code: string): Hold {
  const message =
    `Berth cannot see when the replacement of ${formatNameList(removed)} is ready: ${problem}. ` +
    'Berth tries again; the last decision stays published.';
  return { kind: 'held', reason: 'InventoryStale', message, added, removed, code };
}

const STALE_RETRY_MS = 5_000;

function heldPublication(hold: Hold, handover: Handover | undefined): Publication {
  const againAfterMs = hold.reason === 'InventoryStale' ? STALE_RETRY_MS : undefined;
  return { ...noChange(handover), hold, againAfterMs };
}

function noChange(handover: Handover | undefined): Publication {
  return {
    groups: undefined,
    hold: undefined,
    added: [],
    removed: [],
    handover,
    releasedCode: undefined,
    approval: 'none',
    againAfterMs: undefined,
  };
}

function decideHandover(input: PublicationInput, plain: Publication, code: string): Publication {
  const annotations = input.placement.metadata.annotations ?? {};
  const { state, nowMs } = input;
  const running = state?.move?.token === code ? state.move : undefined;
  const arriving = [...new Set([...clustersWithUnknownReadiness(input), ...plain.added])].sort();
  const handover = running ?? { token: code, startedAtMs: nowMs, arriving };
  const step = planHandover({
    pages: input.pages,
    desired: plain.groups ?? [],
    removed: plain.removed,
    ...(input.reasonOf && { leavingReason: LEAVING_REASON }),
    arriving: handover.arriving,
    isReady: input.isReady,
    startedAtMs: handover.startedAtMs,
    deadlineMs: parseGoDuration(annotations[HANDOVER_DEADLINE_ANNOTATION] ?? '') ?? DEFAULT_HANDOVER_MS,
    nowMs,
    aborted: annotations[HANDOVER_ABORT_ANNOTATION] === code,
  });
  return handoverOutcome(step, plain, handover, nowMs);
}

/**
 * Published clusters on which the work may never have run. These are the clusters that an
 * unfinished earlier handover added. If it is unknown whether one was in progress, they are all
 * published clusters that stay.
 */
function clustersWithUnknownReadiness({ state, pages, result }: PublicationInput): readonly string[] {
  const published = new Set(publishedClusters(pages));
  const isUnknown = state === undefined || state.recalled === true;
  return (isUnknown ? result.selected : (state.move?.arriving ?? [])).filter((cluster) =>
    published.has(cluster),
  );
}

function handoverOutcome(
  step: HandoverStep,
  plain: Publication,
  handover: Handover,
  nowMs: number,
): Publication {
  switch (step.kind) {
    case 'complete':
      return plain;
    case 'waiting': {
      const againAfterMs = Math.min(step.untilMs - nowMs, 5_000);
      return { ...plain, groups: step.groups, removed: [], handover, againAfterMs };
    }
    case 'aborted':
      return { ...plain, groups: step.groups, added: [], removed: handover.arriving, handover };
    case 'timed-out': {
      const { token: code } = handover;
      const message =
        `Not ready in time: ${formatNameList(step.notReady)}. Old and new clusters stay published. Finish with the annotation ` +
        `${RELEASE_ANNOTATION}: "${code}" on the placement, or give up with ${HANDOVER_ABORT_ANNOTATION}: "${code}".`;
      const { added, removed } = plain;
      const hold: Hold = { kind: 'held', reason: 'MoveTimedOut', message, added, removed, code };
      return { ...plain, groups: step.groups, removed: [], handover, hold, againAfterMs: 30_000 };
    }
  }
}

export interface HandoverInput {
  readonly pages: readonly ListedPage[];
  readonly desired: readonly DesiredGroup[];
  readonly removed: readonly string[];
  /** The reason of a removed cluster while it is still on a page. Absent: that of its page. */
  readonly leavingReason?: string | undefined;
  /**
   * Clusters that were not published before this handover, or before the one that it replaced. Some
   * may no longer be wanted.
   */
  readonly arriving: readonly string[];
  /** Whether the work of the placement runs on the cluster (Available or Healthy). */
  readonly isReady: (cluster: string) => boolean;
  readonly startedAtMs: number;
  readonly deadlineMs: number;
  readonly nowMs: number;
  readonly aborted: boolean;
}

type HandoverStep =
  /** Every new cluster is ready: the decision is published. */
  | { readonly kind: 'complete' }
  /** Old and new clusters are published together until `untilMs`. */
  | {
      readonly kind: 'waiting';
      readonly groups: readonly DesiredGroup[];
      readonly notReady: readonly string[];
      readonly untilMs: number;
    }
  /** The deadline passed. Old and new clusters stay published until a person decides. */
  | {
      readonly kind: 'timed-out';
      readonly groups: readonly DesiredGroup[];
      readonly notReady: readonly string[];
    }
  /** Aborted: the old clusters stay, the new ones are removed. */
  | { readonly kind: 'aborted'; readonly groups: readonly DesiredGroup[] };

/**
 * Plans one step of a handover: a cluster is removed only when the new clusters are
 * ready.
 */
export function planHandover(input: HandoverInput): HandoverStep {
  const wanted = new Set(input.desired.flatMap((group) => group.decisions.map((d) => d.clusterName)));
  const arriving = input.arriving.filter((cluster) => wanted.has(cluster));
  if (input.removed.length === 0 || arriving.length === 0) return { kind: 'complete' };
  if (input.aborted) return { kind: 'aborted', groups: withoutArrivals(withRemoved(input), input.arriving) };
  const notReady = arriving.filter((cluster) => !input.isReady(cluster));
  if (notReady.length === 0) return { kind: 'complete' };
  const groups = withRemoved(input);
  const untilMs = input.startedAtMs + input.deadlineMs;
  return input.nowMs >= untilMs
    ? { kind: 'timed-out', groups, notReady }
    : { kind: 'waiting', groups, notReady, untilMs };
}

/**
 * The wanted groups plus the clusters to remove. Each of these clusters goes to the group of its
 * page, or to the first group if that group no longer exists.
 */
function withRemoved({ pages, desired, removed, leavingReason }: HandoverInput): readonly DesiredGroup[] {
  const extra = new Map<DesiredGroup, DesiredGroup['decisions'][number][]>();
  for (const cluster of removed) {
    const page = pages.find((candidate) => candidate.decisions.some((d) => d.clusterName === cluster));
    const group = desired.find((candidate) => sameGroup(candidate, page?.group)) ?? desired[0];
    if (group === undefined) continue;
    const decision = page?.decisions.find((d) => d.clusterName === cluster);
    if (decision === undefined) continue;
    const reason = leavingReason ?? decision.reason;
    extra.set(group, [...(extra.get(group) ?? []), { ...decision, reason }]);
  }
  return desired.map((group) => ({ ...group, decisions: [...group.decisions, ...(extra.get(group) ?? [])] }));
}

function withoutArrivals(
  groups: readonly DesiredGroup[],
  arriving: readonly string[],
): readonly DesiredGroup[] {
  const excluded = new Set(arriving);
  return groups.map((group) => ({
    ...group,
    decisions: group.decisions.filter((decision) => !excluded.has(decision.clusterName)),
  }));
}
