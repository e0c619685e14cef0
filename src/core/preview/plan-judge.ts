import { namespacedName } from '@berth/kube/model/object-ref';
import { withoutPlacementDefaults } from '@berth/ocm/definition/ocm-crds';
import type { Placement, PlacementSpec } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { clusterChange } from '@berth/placement/result/cluster-change';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { activeHold, approvalCode, type Digest, unspentCode } from '../publish/approval/approval-code.ts';
import { addedApprovals, type Approvals, joinApprovals } from '../publish/approval/approved-plans.ts';
import { decidePublication, type Publication, specHash } from '../publish/judge/decide-publication.ts';
import type { Hold } from '../publish/judge/judge-result.ts';
import type { PublishState } from '../publish/judge/publish-state.ts';
import { APPROVAL_MS } from '../publish/approval/pending-plans.ts';
import { DEFAULT_REMOVAL_BUDGET, type RemovalBudget } from '../publish/judge/removal-budget.ts';
import { listedClusters } from '../publish/pages/decision-page.ts';
import type { Transition } from '../transition/transition.ts';
import type { TransitionJudge } from './sides/side-decider.ts';
import { type CountedRecord, stateFromRecords } from '../publish/record/compact-record.ts';

/** One side of a merge. */
export interface JudgedSide {
  /** Of each source, in the same order on both sides. */
  readonly approvals: readonly Approvals[];
  /** As the hub has them, as far as that is known; otherwise as Git declares them. */
  readonly placements: readonly Placement[];
  /** The full commit id, if known. */
  readonly commit?: string | undefined;
}

export interface PlanJudgeOptions {
  readonly base: JudgedSide;
  readonly head: JudgedSide;
  /** The objects on the hub now; absent without a hub. */
  readonly live: readonly Placement[];
  /** By `namespace/name`: the clusters that are published now. */
  readonly published: ReadonlyMap<string, readonly string[]>;
  /** The records of a placement (`namespace/name`), oldest first. */
  readonly recordsOf: (placement: string) => readonly CountedRecord[];
  readonly budgetOf: (placement: Placement) => RemovalBudget | undefined;
  /** RFC 3339: the time of the merge, or a later one. */
  readonly now: string;
  /** RFC 3339, if `now` is later: since when the placements exist that the hub does not have, and approvals are valid. */
  readonly mergedAt?: string;
  /** What became of the approval of a placement until then. Absent: nothing yet. */
  readonly approvalOf?: (placement: string) => Publication['approval'];
  readonly digest: Digest;
}

/** Predicts how the controller will judge a merge, from the records on the hub. */
export class PlanJudge implements TransitionJudge {
  readonly #options: PlanJudgeOptions;
  readonly #nowMs: number;
  readonly #live: ReadonlyMap<string, Placement>;
  readonly #specs: readonly [base: ReadonlyMap<string, Placement>, head: ReadonlyMap<string, Placement>];
  readonly #approvals: ComparedApprovals;
  /** The last judgement of a placement, by `namespace/name`. */
  readonly #judged = new Map<string, Publication>();
  #moved: Transition['moved'] = new Map();

  constructor(options: PlanJudgeOptions) {
    const { base, head, live, now } = options;
    this.#options = options;
    this.#nowMs = Date.parse(now);
    this.#live = byKey(live);
    this.#specs = [byKey(base.placements), byKey(head.placements)];
    this.#approvals = approvalsOf(base.approvals, head.approvals);
  }

  /**
   * The approval code for the change of a placement from the published clusters (`before` if nothing is published) to these
   * clusters.
   */
  code(key: string, before: readonly string[], after: readonly string[]): string {
    return unspentCode(
      this.#options.digest,
      this.#approvalCode(key, before, after),
      this.#stateOf(key, '')?.spent,
    );
  }

  /**
   * The hold of a result; undefined if the result would be published.
   * @param definitionChanged the merge changes the placement; used only if the last publication is unknown
   */
  hold(
    key: string,
    before: readonly string[],
    result: ScheduleResult,
    definitionChanged: boolean,
  ): Pick<Hold, 'reason' | 'message' | 'remedy'> | undefined {
    const { hold } = this.#decide(key, before, result, definitionChanged);
    if (hold === undefined) return undefined;
    const { reason, message, remedy } = hold;
    return { reason, message, ...(remedy !== undefined && { remedy }) };
  }

  /** The clusters that will be published after the result is judged. */
  outcomeOf(key: string, result: ScheduleResult): readonly string[] {
    const before = this.#options.published.get(key);
    if (before === undefined) return result.selected;
    const publication = this.#decide(key, before, result, false);
    this.#judged.set(key, publication);
    const { groups } = publication;
    return groups === undefined ? before : [...new Set(listedClusters(groups))];
  }

  ended(moved: Transition['moved']): void {
    this.#moved = moved;
  }

  /** What became of the approval of a placement when its outcome is published. */
  approvalAfter(key: string): Publication['approval'] {
    const { approvalOf = () => 'none' } = this.#options;
    const { approval = 'none' } = this.#judged.get(key) ?? {};
    return approval === 'none' ? approvalOf(key) : approval;
  }

  /** The records of a placement when its outcome is published, oldest first. A change of order gets none. */
  recordsAfter(key: string): readonly CountedRecord[] {
    const { recordsOf, now } = this.#options;
    const { before, after } = this.#moved.get(key) ?? { before: [], after: [] };
    const { added, removed } = clusterChange(before, after);
    if (added.length + removed.length === 0) return recordsOf(key);
    const code = this.#judged.get(key)?.releasedCode;
    const released = code === undefined ? null : { token: code, by: '' };
    return [...recordsOf(key), { publishedAt: now, removed: { count: removed.length }, released }];
  }

  /** The decision of the controller. */
  #decide(
    key: string,
    before: readonly string[],
    result: ScheduleResult,
    definitionChanged: boolean,
  ): Publication {
    const { published, budgetOf, digest, head } = this.#options;
    const placement = this.#asOnHub(key, result.placement);
    const hash = specHash(digest, placement);
    const unknown: PublishState = {
      specHash: definitionChanged ? '' : hash,
      publishedAtMs: this.#nowMs,
      removals: [],
      recalled: true,
    };
    const codes = this.#validApproval(key);
    const decisions = (published.get(key) ?? before).map((clusterName) => ({ clusterName, reason: '' }));
    return decidePublication({
      key,
      placement,
      result: { ...result, placement },
      pages: [{ name: '', group: undefined, decisions }],
      state: this.#stateOf(key, hash) ?? unknown,
      budget: budgetOf(placement) ?? DEFAULT_REMOVAL_BUDGET,
      inventoryProblem: undefined,
      approved: codes && { tokens: codes, commit: head.commit },
      // Readiness is unknown before the merge, so a handover has both clusters.
      isReady: () => false,
      nowMs: this.#nowMs,
      digest,
    });
  }

  /** The codes that are approved for a placement, until the change that they approve is made. */
  #validApproval(key: string): readonly string[] | undefined {
    const { approvalOf = () => 'none', now, mergedAt = now } = this.#options;
    const outcome = approvalOf(key);
    if (outcome === 'met') return undefined;
    const isRecent = this.#nowMs - Date.parse(mergedAt) < APPROVAL_MS;
    const added = outcome === 'differs' || isRecent ? this.#approvals.added.get(key) : undefined;
    return added ?? this.#codesOfHold(key);
  }

  /** The codes of an approval that caused a hold. It is valid while it stays in Git. */
  #codesOfHold(key: string): readonly string[] | undefined {
    const live = this.#live.get(key);
    const isHeldByPlan = live !== undefined && activeHold(live)?.reason === 'DiffersFromPlan';
    return isHeldByPlan ? this.#approvals.declared.get(key) : undefined;
  }

  #approvalCode(key: string, before: readonly string[], after: readonly string[]): string {
    const { digest, published } = this.#options;
    return approvalCode(digest, key, published.get(key) ?? before, after);
  }

  /** The hub adds defaults to the spec from Git. An equal spec keeps them. */
  #asOnHub(key: string, placement: Placement): Placement {
    const [base, head] = this.#specs.map((side) => side.get(key)?.spec);
    const live = this.#live.get(key);
    const isSame = jsonEqual(base, head) || samePlacementSpec(live?.spec, head);
    return live === undefined || !isSame ? placement : { ...placement, spec: live.spec };
  }

  #stateOf(key: string, hash: string): PublishState | undefined {
    const { recordsOf, now, mergedAt = now } = this.#options;
    const createdAt = this.#live.get(key)?.metadata.creationTimestamp ?? mergedAt;
    return stateFromRecords(recordsOf(key), { specHash: hash, nowMs: this.#nowMs, createdAt });
  }
}

interface ComparedApprovals {
  /** All approvals that the head declares, by `namespace/name`. */
  readonly declared: Approvals;
  /** Those that the base does not declare. They are valid for the change that the merge makes. */
  readonly added: Approvals;
}

function approvalsOf(base: readonly Approvals[], head: readonly Approvals[]): ComparedApprovals {
  return { declared: joinApprovals(head), added: addedApprovals(base, head) };
}

function byKey(placements: readonly Placement[]): ReadonlyMap<string, Placement> {
  return new Map(placements.map((placement) => [namespacedName(placement.metadata), placement]));
}

/** Whether two specs are equal, ignoring defaults that a hub has filled in. */
export function samePlacementSpec(a: PlacementSpec | undefined, b: PlacementSpec | undefined): boolean {
  return jsonEqual(a, b) || jsonEqual(withoutPlacementDefaults(a ?? {}), withoutPlacementDefaults(b ?? {}));
}
