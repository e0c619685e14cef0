import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseGoDuration } from '../../../core/model/go-duration.ts';
import { PLACEMENT } from '../../../core/model/kinds.ts';
import type { Condition, KubeObject } from '../../../core/model/object-meta.ts';
import type { Placement } from '../../../core/model/placement.ts';
import type { ScheduleResult } from '../../../core/placement/schedule-result.ts';
import { decidePublication, type Publication, specHash } from '../../../core/publish/decide-publication.ts';
import { changeTo, earlierRemovals } from '../../../core/publish/change-under-way.ts';
import {
  type DecisionPage,
  decisionPageOf,
  listedClusters,
  publishedClusters,
} from '../../../core/publish/decision-page.ts';
import { heldCondition, type Hold, withReasons } from '../../../core/publish/judge-result.ts';
import { listOnce } from '../../../core/publish/list-once.ts';
import { groupsOfPages, pagesDigest } from '../../../core/publish/recorded-groups.ts';
import { planPlacementStatus } from '../../../core/publish/placement-status.ts';
import { type PagePlan, planPages, type SettledPage } from '../../../core/publish/plan-pages.ts';
import { withSpent } from '../../../core/publish/plan-token.ts';
import type { PublishState } from '../../../core/publish/publish-state.ts';
import {
  HELD_CONDITION,
  RELEASED_ANNOTATION,
  RELEASED_BY_ANNOTATION,
} from '../../../core/publish/publish-annotations.ts';
import { DONE, type ReconcileOutcome } from '../../../runtime/reconciler.ts';
import { answeredObject, METADATA_ANSWER } from './answered-object.ts';
import { PlacementsOfOthers } from './placements-of-others.ts';
import type { PublishedDecision } from './published-decision.ts';
import type { PublisherDependencies } from './publisher-dependencies.ts';

/** A publication on its way to the hub. */
interface Making {
  readonly placement: Placement;
  readonly result: ScheduleResult;
  readonly wanted: Publication;
  readonly plan: PagePlan;
  /** Clusters on the pages before the first write. */
  readonly published: readonly string[];
}

/** Asked for sooner when the commit is there; this is for commits that never get there. */
const HALF_COMMIT_RETRY_MS = 2_000;

/** One pass over one placement: judge the newest result, write pages in safe order, then one status patch. */
export class PlacementPublisher {
  readonly #deps: PublisherDependencies;
  /** Last hold told per placement: events tell changes, not passes. */
  readonly #told = new Map<string, string>();
  readonly #scoresWrittenAtMs = new Map<string, number>();

  readonly #others: PlacementsOfOthers;

  constructor(deps: PublisherDependencies) {
    this.#deps = deps;
    this.#others = new PlacementsOfOthers(deps);
  }

  /** @param key `namespace/name` of the placement */
  async reconcile(key: string): Promise<ReconcileOutcome> {
    const { placements, resultOf } = this.#deps;
    const placement = placements.get(key) as Placement | undefined;
    if (placement === undefined || placement.metadata.deletionTimestamp !== undefined) {
      this.#forget(key);
      return DONE;
    }
    const result = resultOf(key);
    const { uid } = placement.metadata;
    // Scheduled for another object of this name.
    if (result === undefined || result.placement.metadata.uid !== uid) return DONE;
    if (result.outcome === 'skipped') return this.#others.reconcile(key, placement);
    this.#others.forget(key);
    return this.#publish(key, placement, result);
  }

  async #publish(key: string, placement: Placement, result: ScheduleResult): Promise<ReconcileOutcome> {
    const {
      writer,
      view,
      memory,
      clock,
      digest,
      budgetOf,
      approvals,
      isReady,
      inventoryProblem,
      worksProblem,
    } = this.#deps;
    const { namespace = '', name, uid } = placement.metadata;
    const objects = await writer.pagesOf(key, namespace, name);
    const pages = objects.map((object) => decisionPageOf(object, uid));
    const problem = inventoryProblem(placement);
    if (problem === undefined) this.#recordFound(key, result, pages);
    const wanted = decidePublication({
      key,
      placement,
      result,
      pages,
      state: memory.get(key),
      budget: budgetOf(placement),
      inventoryProblem: problem,
      worksProblem: worksProblem(),
      approved: approvals.approvedFor(key),
      isReady: (cluster) => isReady(key, cluster),
      nowMs: clock.now(),
      digest,
    });
    const standing = listOnce(pages);
    let settled = standing.pages;
    if (pages.length > 0 && movesClusters(wanted) && !this.#deps.isOfOneCommit(key, result)) {
      this.#deps.onSettled(key, settled);
      return { kind: 'requeue', afterMs: HALF_COMMIT_RETRY_MS };
    }
    // Half of a commit on the hub makes something else of it.
    if (wanted.approval === 'differs' && approvals.isWaiting(key)) return { kind: 'requeue', afterMs: 500 };
    let remembered: Promise<void> | undefined;
    if (wanted.groups === undefined) await writer.carryOut(placement, objects, standing.actions);
    else {
      const isTaken = (page: string): boolean =>
        view.exists(`${namespace}/${page}`) && !pages.some((own) => own.name === page);
      const plan = planPages(name, pages, wanted.groups, isTaken);
      const waitMs = this.#scoreWaitMs(key, placement, plan);
      if (waitMs > 0) return { kind: 'requeue', afterMs: waitMs };
      const making: Making = { placement, result, wanted, plan, published: publishedClusters(pages) };
      await this.#carryOut(key, making, objects);
      // The status is sent first: the hub works on it while the record is made.
      remembered = nextTurn().then(() => this.#remember(key, making));
      settled = plan.pages;
    }
    // What only comes is no reason to wait for a person.
    if (wanted.hold === undefined) approvals.judged(key, wanted.approval === 'met' ? 'met' : 'none');
    else if (wanted.approval === 'differs') approvals.judged(key, 'differs');
    const hold =
      wanted.hold && withReasons(wanted.hold, (clusters) => this.#deps.lostBecause(result, clusters));
    // What was not decided on what there is says nothing of the placement.
    const said = problem === undefined ? result.conditions : [];
    await Promise.all([this.#writeStatus(placement, said, settled, hold), remembered]);
    this.#tellHold(key, hold);
    this.#deps.onSettled(key, settled);
    return wanted.againAfterMs === undefined
      ? DONE
      : { kind: 'requeue', afterMs: Math.max(1, wanted.againAfterMs) };
  }

  /** What a change takes away is on the disk before it is taken: it counts also when nobody lives to tell of it. */
  async #carryOut(key: string, making: Making, objects: readonly KubeObject[]): Promise<void> {
    const { writer, memory, log } = this.#deps;
    const { placement, wanted, plan } = making;
    if (plan.actions.length > 0 && wanted.removed.length > 0)
      await memory.persist(key, this.#underWay(key, making)).catch((error: unknown) =>
        // As with records: a full disk costs memory, never a decision.
        log.error('a removal counts only as long as this process lives', { placement: key, error }),
      );
    try {
      await writer.carryOut(placement, objects, plan.actions);
    } catch (error) {
      memory.set(key, this.#underWay(key, making));
      throw error;
    }
  }

  #underWay(key: string, making: Making): PublishState {
    const { clock, digest, memory } = this.#deps;
    const state = memory.get(key);
    const hash = specHash(digest, making.result.placement);
    const atMs = clock.now();
    const from = { state, published: making.published, atMs, released: releaseOf(making) };
    return {
      publishedAtMs: atMs,
      move: undefined,
      ...state,
      specHash: hash,
      removals: earlierRemovals(state, { ...from, specHash: hash }),
      change: changeTo(listedClusters(making.plan.pages), from),
    };
  }

  #remember(key: string, making: Making): void {
    const { clock, digest, memory, record, emit } = this.#deps;
    const { result, wanted, plan, published } = making;
    const state = memory.get(key);
    const hash = specHash(digest, result.placement);
    const nowMs = clock.now();
    const changed = plan.actions.length > 0;
    const isKnown = state?.specHash === hash && state.change === undefined;
    if (!changed && isKnown && state.move?.token === wanted.move?.token) return;
    const from = { state, published, atMs: nowMs, released: releaseOf(making) };
    const isPartOfMore = changed && state?.change !== undefined;
    const { added, removed } = isPartOfMore ? changeTo(listedClusters(plan.pages), from) : wanted;
    const earlier = earlierRemovals(state, { ...from, specHash: hash });
    const counts = changed && removed.length > 0 && from.released === undefined;
    const groups = groupsOfPages(plan.pages);
    const entry = { placement: key, result, groups, added, removed, released: from.released };
    const recordHash = changed ? record(entry) : state?.record;
    memory.set(key, {
      specHash: hash,
      publishedAtMs: changed ? nowMs : (state?.publishedAtMs ?? nowMs),
      removals: counts ? [...earlier, { atMs: nowMs, count: removed.length }] : earlier,
      move: wanted.move,
      pages: changed ? pagesDigest(digest, groups) : state?.pages,
      spent: changed ? withSpent(state?.spent, wanted.releasedToken) : state?.spent,
      record: recordHash,
    });
    if (!changed) return;
    if (plan.scoresOnly) this.#scoresWrittenAtMs.set(key, nowMs);
    const clusters = listedClusters(plan.pages);
    const writes = plan.actions.length;
    emit({ kind: 'published', placement: key, clusters, added, removed, writes, record: recordHash ?? '' });
  }

  /** Before anything is written: what stands there, and is in no record, gets one. */
  #recordFound(key: string, result: ScheduleResult, pages: readonly DecisionPage[]): void {
    const { unrecorded, record, memory, digest, log } = this.#deps;
    const found = unrecorded.lookAt(key, pages);
    if (found === undefined) return;
    const { change, ...published } = found;
    const hash = record({
      placement: key,
      result,
      ...published,
      released: change?.released,
      found: { atMs: change?.atMs },
    });
    const state = memory.get(key);
    if (state !== undefined)
      memory.set(key, { ...state, pages: pagesDigest(digest, found.groups), record: hash });
    log.info('published before the restart, recorded now', { placement: key, record: hash });
  }

  async #writeStatus(
    placement: Placement,
    said: readonly Condition[],
    pages: readonly SettledPage[],
    hold: Hold | undefined,
  ): Promise<void> {
    const { api, clock, placements } = this.#deps;
    const { namespace = '', name, uid, resourceVersion } = placement.metadata;
    const existing = placement.status?.conditions?.find((condition) => condition.type === HELD_CONDITION);
    const held = heldCondition(hold, existing);
    const conditions: Condition[] = held === undefined ? [...said] : [...said, held];
    const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const status = planPlacementStatus({ current: placement.status, pages, conditions, now });
    if (status === undefined) return;
    const patch = { metadata: { uid, resourceVersion }, status };
    const options = { ...METADATA_ANSWER, subresource: 'status' } as const;
    const answer = await api.mergePatch(PLACEMENT, { namespace, name }, patch, options);
    const before = placement as unknown as KubeObject;
    placements.wrote(before, answeredObject(answer, before, { status }));
  }

  /** How long a rewrite that changes only scores still has to wait (scoreRateLimit, default 1 min). */
  #scoreWaitMs(key: string, placement: Placement, plan: PagePlan): number {
    if (!plan.scoresOnly || plan.actions.length === 0) return 0;
    const limitMs = parseGoDuration(placement.spec?.scoreRateLimit ?? '1m') ?? 60_000;
    const last = this.#scoresWrittenAtMs.get(key) ?? this.#deps.memory.get(key)?.publishedAtMs;
    return last === undefined ? 0 : Math.min(limitMs, last + limitMs - this.#deps.clock.now());
  }

  #tellHold(key: string, hold: Hold | undefined): void {
    const text = hold === undefined ? undefined : `${hold.reason} ${hold.token}`;
    if (this.#told.get(key) === text) return;
    if (hold === undefined || text === undefined) {
      this.#told.delete(key);
      return;
    }
    this.#told.set(key, text);
    const { reason, message, token } = hold;
    this.#deps.emit({ kind: 'held', placement: key, reason, message, token });
  }

  #forget(key: string): void {
    this.#deps.memory.delete(key);
    this.#told.delete(key);
    this.#others.forget(key);
    this.#scoresWrittenAtMs.delete(key);
    this.#deps.onSettled(key, []);
  }
}

function movesClusters(wanted: Publication): boolean {
  const { added, removed } = wanted.hold ?? wanted;
  return added.length + removed.length > 0;
}

function releaseOf({
  wanted: { releasedToken: token },
  placement,
}: Pick<Making, 'wanted' | 'placement'>): PublishedDecision['released'] {
  if (token === undefined) return undefined;
  const annotations = placement.metadata.annotations ?? {};
  const byHand = annotations[RELEASED_ANNOTATION] === token;
  return { token, by: byHand ? annotations[RELEASED_BY_ANNOTATION] : undefined };
}
