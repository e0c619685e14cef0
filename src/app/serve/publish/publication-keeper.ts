import { parseGoDuration } from '../../../core/model/go-duration.ts';
import type { Placement } from '../../../core/model/placement.ts';
import type { ScheduleResult } from '../../../core/placement/schedule-result.ts';
import { changeTo, earlierRemovals } from '../../../core/publish/change-under-way.ts';
import { clusterChange, sameClusters } from '../../../core/publish/cluster-change.ts';
import { type Publication, specHash } from '../../../core/publish/decide-publication.ts';
import { type ListedPage, listedClusters, publishedClusters } from '../../../core/publish/decision-page.ts';
import type { PagePlan, SettledPage } from '../../../core/publish/plan-pages.ts';
import { withSpent } from '../../../core/publish/plan-token.ts';
import { RELEASED_ANNOTATION, RELEASED_BY_ANNOTATION } from '../../../core/publish/publish-annotations.ts';
import type { PublishState } from '../../../core/publish/publish-state.ts';
import { groupsOfPages, pagesDigest } from '../../../core/publish/recorded-groups.ts';
import type { LastPublications } from './last-publications.ts';
import type { PublishedDecision } from './published-decision.ts';
import type { PublisherDependencies } from './publisher-dependencies.ts';

/** A publication on its way to the hub. */
export interface Making {
  readonly placement: Placement;
  readonly result: ScheduleResult;
  readonly wanted: Publication;
  readonly plan: PagePlan;
  /** Before the first write. */
  readonly published: readonly SettledPage[];
}

type KeeperDependencies = Pick<
  PublisherDependencies,
  'clock' | 'log' | 'digest' | 'memory' | 'emit' | 'record' | 'unrecorded'
>;

/** What is kept of a publication: before its first cluster goes, when it fails, when it is done, and when a start finds one. */
export class PublicationKeeper {
  readonly #deps: KeeperDependencies;
  readonly #last: LastPublications;
  readonly #scoresWrittenAtMs = new Map<string, number>();

  constructor(deps: KeeperDependencies, last: LastPublications) {
    this.#deps = deps;
    this.#last = last;
  }

  /** Before anything is written: what stands there, and is in no record, gets one. */
  find(key: string, result: ScheduleResult, pages: readonly ListedPage[]): void {
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

  /** Around the writes. What a change takes away is on the disk before it is taken: it counts also when nobody lives to tell of it. */
  async during(key: string, making: Making, write: () => Promise<void>): Promise<void> {
    const { memory, log } = this.#deps;
    if (making.plan.actions.length > 0 && making.wanted.removed.length > 0)
      await memory.persist(key, this.#underWay(key, making)).catch((error: unknown) =>
        // As with records: a full disk costs memory, never a decision.
        log.error('a removal counts only as long as this process lives', { placement: key, error }),
      );
    try {
      await write();
    } catch (error) {
      // Some of it may have been written.
      const { placement, plan, published } = making;
      const before = publishedClusters(published);
      this.#last.cutShort(
        key,
        placement,
        published,
        clusterChange(before, listedClusters(plan.pages)).removed,
      );
      memory.set(key, this.#underWay(key, making));
      throw error;
    }
  }

  /** After the writes: the record, and what the next change is judged by. */
  done(key: string, making: Making): void {
    const { clock, digest, memory, record, emit } = this.#deps;
    const { result, wanted, plan } = making;
    const published = publishedClusters(making.published);
    const clusters = listedClusters(plan.pages);
    const state = memory.get(key);
    const nowMs = clock.now();
    // Without a write, too: others may have taken away what would have gone.
    const changed = plan.actions.length > 0 || !sameClusters(published, clusters);
    const isWhole = state !== undefined && state.change === undefined;
    if (!changed && isWhole && state.recalled !== true && state.move?.token === wanted.move?.token) return;
    // A spec that moves no cluster leaves no record: it is not the spec of the last publication.
    const hash = !changed && isWhole ? state.specHash : specHash(digest, result.placement);
    const from = { state, published, atMs: nowMs, released: releaseOf(making) };
    const isPartOfMore = changed && state?.change !== undefined;
    const { added, removed } = isPartOfMore ? changeTo(clusters, from) : wanted;
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
    const writes = plan.actions.length;
    emit({ kind: 'published', placement: key, clusters, added, removed, writes, record: recordHash ?? '' });
  }

  /** How long a rewrite that changes only scores still has to wait (scoreRateLimit, default 1 min). */
  scoreWaitMs(key: string, placement: Placement, plan: PagePlan): number {
    if (!plan.scoresOnly || plan.actions.length === 0) return 0;
    const limitMs = parseGoDuration(placement.spec?.scoreRateLimit ?? '1m') ?? 60_000;
    const last = this.#scoresWrittenAtMs.get(key) ?? this.#deps.memory.get(key)?.publishedAtMs;
    return last === undefined ? 0 : Math.min(limitMs, last + limitMs - this.#deps.clock.now());
  }

  forget(key: string): void {
    this.#deps.memory.delete(key);
    this.#scoresWrittenAtMs.delete(key);
  }

  #underWay(key: string, making: Making): PublishState {
    const { clock, digest, memory } = this.#deps;
    const state = memory.get(key);
    const hash = specHash(digest, making.result.placement);
    const atMs = clock.now();
    const published = publishedClusters(making.published);
    const from = { state, published, atMs, released: releaseOf(making) };
    return {
      publishedAtMs: atMs,
      move: undefined,
      ...state,
      specHash: hash,
      removals: earlierRemovals(state, { ...from, specHash: hash }),
      change: changeTo(listedClusters(making.plan.pages), from),
    };
  }
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
