import { type ResultGenerator, scheduleEach } from '@berth/placement/engine';
import { CauseTrials, ResumableDecider } from '@berth/placement/explain/verdict/resumable-decider';
import { IncrementalScheduler } from '@berth/placement/incremental-scheduler';
import { PublishedClusters } from '@berth/placement/prior/published-clusters';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { completeTransition, Transitions, type Transition } from '../../transition/transition.ts';

/** Judges the results of a transition. */
export interface TransitionJudge {
  /** See `TransitionOptions`. A later round may take back what this one returned. */
  readonly outcomeOf: (key: string, result: ScheduleResult) => readonly string[];
  /** Called at the end, with what is published then. */
  readonly ended?: (moved: Transition['moved']) => void;
}

type Published = ReadonlyMap<string, readonly string[]>;

/** Nothing is held. */
const AS_DECIDED: TransitionJudge = { outcomeOf: (_key, { selected }) => selected };

/**
 * Decides the sides of a plan, and of the plans after it. One incremental engine moves from side to side, so that each
 * costs only what differs from the one before. The results equal those of a new engine.
 */
export class SideDecider {
  /** Finds out why clusters move, with an incremental engine of its own. */
  readonly trials = new CauseTrials();
  /** Explains why clusters are selected, likewise. */
  readonly #tracer = new CauseTrials();
  readonly #scheduler: IncrementalScheduler;
  readonly #transitions: Transitions;
  /** Readers of what is published now, and of what is without and with the change. Unchanged lists stay the same objects. */
  readonly #readers = {
    now: new PublishedClusters(),
    before: new PublishedClusters(),
    after: new PublishedClusters(),
  };
  #judge: TransitionJudge = AS_DECIDED;

  /** @param options.staysFor `many plans`: rankings are kept, which makes the next plan faster */
  constructor({ staysFor = 'one plan' }: { readonly staysFor?: 'one plan' | 'many plans' } = {}) {
    this.#scheduler = new IncrementalScheduler({ keepsRankings: staysFor === 'many plans' });
    this.#transitions = new Transitions({
      decide: (snapshot) => this.#decide(snapshot),
      outcomeOf: (key, result) => this.#judge.outcomeOf(key, result),
    });
  }

  /** One result per placement, in the order of the snapshot. */
  results(snapshot: Snapshot): readonly ScheduleResult[] {
    return [...this.#decide(snapshot)];
  }

  /**
   * Calls `explain` with a reader that decides single placements, of this snapshot or of those that
   * led to it.
   * @param explain must use nothing else of this decider
   */
  explaining<T>({ clusters }: Snapshot, explain: (resumable: ResumableDecider) => T): T {
    const resumable = new ResumableDecider(
      hasUniqueClusters(clusters) ? { scheduler: this.#scheduler, tracer: this.#tracer } : undefined,
    );
    try {
      return explain(resumable);
    } finally {
      resumable.end();
    }
  }

  transition(snapshot: Snapshot, judge: TransitionJudge): Transition {
    this.#judge = judge;
    const transition = completeTransition(this.#transitions, snapshot);
    judge.ended?.(transition.moved);
    return transition;
  }

  /** What is published before the change: what is recorded, or else what the base decides by itself. */
  publishedBefore(snapshot: Snapshot): Snapshot['decisions'] {
    if (snapshot.decisions.length > 0) return snapshot.decisions;
    return this.transition(snapshot, AS_DECIDED).snapshot.decisions;
  }

  #decide(snapshot: Snapshot): ResultGenerator {
    return hasUniqueClusters(snapshot.clusters) ? this.#scheduler.decide(snapshot) : scheduleEach(snapshot);
  }

  /** The published clusters of each placement that exists, each cluster once. */
  published(
    side: 'now' | 'before' | 'after',
    { placements, decisions }: Pick<Snapshot, 'placements' | 'decisions'>,
  ): Published {
    const { clusters } = this.#readers[side].read(decisions);
    const keys = placements.map(({ metadata }) => namespacedName(metadata));
    return new Map(keys.map((key) => [key, eachOnce(clusters.get(key))]));
  }
}

/** Whether each name is used once. Git may name a cluster twice, with and without a namespace, which the incremental engine does not support. */
function hasUniqueClusters(clusters: Snapshot['clusters']): boolean {
  let unique = UNIQUE.get(clusters);
  if (unique === undefined)
    UNIQUE.set(clusters, (unique = new Set(clusters.map(nameOf)).size === clusters.length));
  return unique;
}

/** The results of `hasUniqueClusters`. */
const UNIQUE = new WeakMap<Snapshot['clusters'], boolean>();

function nameOf({ metadata }: Snapshot['clusters'][number]): string {
  return metadata.name;
}

/** The results of `eachOnce`. */
const ONCE = new WeakMap<readonly string[], readonly string[]>();

function eachOnce(clusters: readonly string[] = []): readonly string[] {
  let once = ONCE.get(clusters);
  if (once === undefined) {
    const names = new Set(clusters);
    ONCE.set(clusters, (once = names.size === clusters.length ? clusters : [...names]));
  }
  return once;
}
