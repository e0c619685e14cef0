import type { ObjectStore } from '@berth/kube/cache/object-store';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import { namespacedName } from '@berth/kube/model/object-ref';
import { hasReachedVersion } from '@berth/kube/model/resource-version';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { REPLICA_SET_FINALIZER } from '@berth/ocm/kind/manifest-work-replica-set';
import type { Clock } from '@berth/runtime/clock/clock';
import { hasAppliedCurrent } from '../../../core/work/replica-set/replica-set-child.ts';
import type { ControllerEventBody } from '../../events/controller-events.ts';
import type { CommitBarrier } from './commit-barrier.ts';
import type { SourceEvent } from './source-options.ts';

/**
 * How far a commit has got, in this order. Each stage counts from the begin of the fetch that brought the commit.
 *
 * - `followed`: the hub has stored all that the commit says; refused objects do not count.
 * - `decided`: a round of decisions has ended that saw all of it.
 * - `published`: the last page of the last decision that changed is written.
 * - `applied`: the agents have applied the last ManifestWork that was written for the commit until then. Works that a
 *   rollout writes later do not count.
 *
 * A commit that changes no decision is never `published`, one that leads to no work never `applied`. A commit with a held
 * decision ends after `decided`, because a person ends the hold. A commit that a newer one overtakes reaches a stage together
 * with the newer one. Commits of sources that another tool applies have no stages, nor have those that a standby reads.
 * Where another controller decides, `followed` is the last stage.
 */
export const COMMIT_STAGES = ['followed', 'decided', 'published', 'applied'] as const;
export type CommitStage = (typeof COMMIT_STAGES)[number];

/** A commit that has been read. Times: milliseconds since the epoch. */
export interface StagedCommit {
  readonly id: string;
  /** The sources that it is read for. */
  readonly sources: readonly string[];
  /** This process has read no commit of a source before, so that an earlier process may have followed this one. */
  readonly isFirst: boolean;
  readonly fetchBeganAtMs: number;
  /** Placements (`namespace/name`) with a changed decision that is not written yet. */
  readonly moved: ReadonlySet<string>;
  /** A decision that the commit leads to is held. */
  readonly isHeld: boolean;
}

export interface CommitStagesOptions {
  readonly clock: Clock;
  /** Those that write to the hub. */
  readonly sources: readonly string[];
  readonly barrier: Pick<CommitBarrier, 'onCommitsComplete'>;
  readonly mayWrite: () => boolean;
  /** Whether decisions are being computed, or due; undefined: another controller decides. */
  readonly isDeciding: () => boolean | undefined;
  readonly observers: readonly CommitObserver[];
}

/** Learns of commits on their way. */
export interface CommitObserver {
  /** The commit was read, for the first of its sources. */
  readonly read?: ((commit: StagedCommit) => void) | undefined;
  readonly reached: (commit: StagedCommit, stage: CommitStage, atMs: number) => void;
  /** Nothing more is written for the commit, or it is given up. It may be `applied` later. */
  readonly ended?: ((commit: StagedCommit) => void) | undefined;
}

/** What the works of a commit are waited for with. */
export interface WorksOfCommits {
  readonly works: Pick<ObjectStore, 'get' | 'onChange'>;
  readonly replicaSets: Pick<ObjectStore, 'get' | 'onChange'>;
  /** Resolves when the watch has shown all pages that were written. */
  readonly whenPagesShown: () => Promise<void>;
  /** Resolves when no replica set waits for its works. */
  readonly whenIdle: () => Promise<void>;
}

/** Commits on their way. The oldest one is given up if there are more. */
const MAX_TRACKED = 100;

interface Tracked extends StagedCommit {
  readonly sources: string[];
  /** The sources that do not follow it yet. */
  readonly unfollowed: Set<string>;
  stage: CommitStage | 'read';
  /** Since when the watches show all of it. */
  shownAtMs: number | undefined;
  readonly moved: Set<string>;
  publishedAtMs: number | undefined;
  isHeld: boolean;
  /** Replica sets (`namespace/name`) that it wrote, with their versions, until the watch shows that they are handled. */
  readonly replicaSets: Map<string, string>;
  /** Works (`namespace/name`) with the generation that no agent has applied yet. */
  readonly works: Map<string, number>;
  hasWorks: boolean;
  /** Whether no work of it is still to be written. */
  areWorksWritten: boolean;
}

/** Measures the stages of commits from what sources, decisions, publication and works report. */
export class CommitStages {
  readonly #options: CommitStagesOptions;
  readonly #sources: ReadonlySet<string>;
  readonly #fetchBeganAtMs = new Map<string, number>();
  readonly #lastRead = new Map<string, string>();
  #tracked: readonly Tracked[] = [];
  #works: WorksOfCommits | undefined;

  constructor(options: CommitStagesOptions) {
    this.#options = options;
    this.#sources = new Set(options.sources);
    options.barrier.onCommitsComplete(() => this.#shown());
  }

  /** Follows the sources. Called before the barrier handles the event. */
  handle(event: SourceEvent): void {
    const { kind, source } = event;
    if (!this.#sources.has(source)) return;
    if (kind === 'fetching') this.#fetchBeganAtMs.set(source, this.#options.clock.now());
    else if (kind === 'read') this.#read(source, event.content.commit?.id);
    else if (kind === 'applied') this.#written(source, event.object);
    else if (kind === 'complete')
      for (const commit of this.#tracked)
        if (commit.unfollowed.delete(source) && commit.unfollowed.size === 0) this.#followed(commit);
  }

  /** Follows decisions and their publication. */
  record(event: ControllerEventBody): void {
    if (event.kind === 'decided') {
      for (const { stage, moved } of this.#tracked)
        if (stage === 'read' || stage === 'followed') moved.add(event.placement);
    } else if (event.kind === 'published')
      this.#settle(event.placement, event.writes > 0 ? 'written' : 'same');
    else if (event.kind === 'held') this.#settle(event.placement, 'held');
  }

  /** A round of decisions has ended that took so long. */
  roundEnded(tookMs: number): void {
    this.#checkDecided(this.#options.clock.now() - tookMs);
  }

  /** The newest decision of a placement (`namespace/name`) is published, held, or needs no publication. */
  settled(placement: string): void {
    this.#settle(placement, 'same');
  }

  /** From now on, works are waited for. */
  followWorks(works: WorksOfCommits): void {
    this.#works = works;
    works.works.onChange(({ key, after }) => {
      for (const commit of this.#tracked) this.#workShown(commit, key, after);
    });
    works.replicaSets.onChange(({ key, after }) => {
      for (const commit of this.#tracked)
        if (isHandled(after, commit.replicaSets.get(key))) {
          commit.replicaSets.delete(key);
          if (commit.replicaSets.size === 0) void this.#untilWorksWritten(commit, works);
        }
    });
  }

  /** A work was written for a replica set. */
  workWritten({ metadata }: KubeObject): void {
    for (const commit of this.#tracked)
      if (commit.stage !== 'read' && !commit.areWorksWritten) this.#awaitWork(commit, { metadata });
  }

  #read(source: string, id: string | undefined): void {
    const isFirst = !this.#lastRead.has(source);
    if (id === undefined || this.#lastRead.get(source) === id) return;
    this.#lastRead.set(source, id);
    if (!this.#options.mayWrite()) return;
    const known = this.#tracked.find((one) => one.id === id && one.stage === 'read');
    if (known !== undefined) {
      known.sources.push(source);
      known.unfollowed.add(source);
      return;
    }
    const fetchBeganAtMs = this.#fetchBeganAtMs.get(source) ?? this.#options.clock.now();
    const commit: Tracked = {
      ...{ id, sources: [source], unfollowed: new Set([source]), isFirst, fetchBeganAtMs, stage: 'read' },
      ...{ shownAtMs: undefined, moved: new Set(), publishedAtMs: undefined, isHeld: false },
      ...{ replicaSets: new Map(), works: new Map(), hasWorks: false, areWorksWritten: false },
    };
    const [oldest] = this.#tracked;
    if (oldest !== undefined && this.#tracked.length >= MAX_TRACKED) this.#forget(oldest);
    this.#tracked = [...this.#tracked, commit];
    for (const observer of this.#options.observers) observer.read?.(commit);
  }

  /** The hub has stored an object of the commit that the source follows. */
  #written(source: string, object: KubeObject): void {
    for (const commit of this.#tracked) {
      if (!commit.unfollowed.has(source)) continue;
      if (object.kind === MANIFEST_WORK.kind) this.#awaitWork(commit, object);
      if (object.kind === MANIFEST_WORK_REPLICA_SET.kind)
        commit.replicaSets.set(namespacedName(object.metadata), object.metadata.resourceVersion ?? '');
    }
  }

  #awaitWork(commit: Tracked, { metadata }: Pick<KubeObject, 'metadata'>): void {
    const key = namespacedName(metadata);
    commit.hasWorks = true;
    commit.works.set(key, metadata.generation ?? 0);
    const shown = this.#works?.works.get(key);
    if (shown !== undefined) this.#workShown(commit, key, shown);
  }

  #followed(commit: Tracked): void {
    this.#reach(commit, 'followed');
    if (this.#options.isDeciding() === undefined) this.#forget(commit);
  }

  #shown(): void {
    for (const commit of this.#tracked)
      if (commit.stage === 'followed') commit.shownAtMs ??= this.#options.clock.now();
    // The change that the watch has just shown asks for a round of decisions after this.
    queueMicrotask(() => this.#checkDecided(-Infinity));
  }

  /** @param decidedUntilMs what the watches showed by then is decided; all of it if no round is due */
  #checkDecided(decidedUntilMs: number): void {
    const isDue = this.#options.isDeciding();
    for (const commit of this.#tracked) {
      const { stage, shownAtMs } = commit;
      if (stage !== 'followed' || shownAtMs === undefined || (isDue && shownAtMs > decidedUntilMs)) continue;
      this.#reach(commit, 'decided');
      this.#checkPublished(commit);
    }
  }

  #settle(placement: string, how: 'written' | 'same' | 'held'): void {
    for (const commit of this.#tracked) {
      // What is known of a part of the commit may change until the hub has all of it.
      if (how !== 'written' && commit.stage === 'read') continue;
      if (!commit.moved.delete(placement)) continue;
      if (how === 'held') commit.isHeld = true;
      if (how === 'written') commit.publishedAtMs = this.#options.clock.now();
      this.#checkPublished(commit);
    }
  }

  #checkPublished(commit: Tracked): void {
    if (commit.stage !== 'decided' || commit.moved.size > 0) return;
    if (commit.isHeld) return this.#forget(commit);
    if (commit.publishedAtMs !== undefined) this.#reach(commit, 'published', commit.publishedAtMs);
    if (this.#works === undefined) this.#forget(commit);
    else void this.#untilWorksWritten(commit, this.#works);
  }

  async #untilWorksWritten(commit: Tracked, works: WorksOfCommits): Promise<void> {
    await works.whenPagesShown();
    for (const [key, version] of commit.replicaSets) {
      const shown = works.replicaSets.get(key);
      if (shown !== undefined && isHandled(shown, version)) commit.replicaSets.delete(key);
    }
    await works.whenIdle();
    const isSettled = commit.stage === 'published' || (commit.stage === 'decided' && commit.moved.size === 0);
    if (!isSettled || commit.replicaSets.size > 0) return;
    if (!commit.areWorksWritten) this.#ended(commit);
    commit.areWorksWritten = true;
    if (!commit.hasWorks) this.#forget(commit);
    else this.#checkApplied(commit);
  }

  #workShown(commit: Tracked, key: string, work: KubeObject | undefined): void {
    const generation = commit.works.get(key);
    if (generation === undefined) return;
    // One that was deleted again is no longer waited for.
    const isOver =
      work === undefined ||
      ((work.metadata.generation ?? 0) >= generation && hasAppliedCurrent(work as unknown as ManifestWork));
    if (!isOver) return;
    commit.works.delete(key);
    this.#checkApplied(commit);
  }

  #checkApplied(commit: Tracked): void {
    if (!commit.areWorksWritten || commit.works.size > 0 || !this.#tracked.includes(commit)) return;
    this.#reach(commit, 'applied');
    this.#forget(commit);
  }

  #reach(commit: Tracked, stage: CommitStage, atMs = this.#options.clock.now()): void {
    commit.stage = stage;
    for (const observer of this.#options.observers) observer.reached(commit, stage, atMs);
  }

  #ended(commit: Tracked): void {
    for (const observer of this.#options.observers) observer.ended?.(commit);
  }

  #forget(commit: Tracked): void {
    if (!commit.areWorksWritten) this.#ended(commit);
    this.#tracked = this.#tracked.filter((one) => one !== commit);
  }
}

/** Whether the watch shows the replica set as it was written, and Berth's work controller has begun with it. */
function isHandled(replicaSet: KubeObject | undefined, version: string | undefined): boolean {
  if (version === undefined) return false;
  // Deleted meanwhile.
  if (replicaSet === undefined) return true;
  const { resourceVersion = '', finalizers = [] } = replicaSet.metadata;
  return hasReachedVersion(resourceVersion, version) && finalizers.includes(REPLICA_SET_FINALIZER);
}
