import { decisionChanges } from '@berth/placement/explain/decision-changes';
import { CauseTrials } from '@berth/placement/explain/verdict/cause-trials';
import { ResumableDecider } from '@berth/placement/explain/verdict/resumable-decider';
import { SnapshotDecider } from '@berth/placement/explain/verdict/decide-in-snapshot';
import type { DecisionChanges } from '@berth/placement/explain/verdict/explanation';
import type { PlanJudges, PlanSide } from './plan-input.ts';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

/**
 * Each explanation repeats the decision without a change, so only the first changed placements of a huge change are
 * explained.
 */
const MAX_EXPLAINED = 100;

/** What explains decisions. Both keep results for later plans. */
interface MoveReaders {
  readonly trials: CauseTrials;
  readonly resumable: ResumableDecider;
}

/**
 * Why clusters move, and which changed object caused it: the same as `berth explain` would print after the merge.
 * @param snapshotOf returns the snapshot in which a placement (`namespace/name`) is decided after the merge
 * @param readers those of an earlier plan, which make this one faster
 */
export function makeMoveExplainer(
  before: PlanSide,
  snapshotOf: (key: string) => Snapshot,
  { trials, resumable }: MoveReaders = { trials: new CauseTrials(), resumable: new ResumableDecider() },
): PlanJudges['explain'] {
  const deciders = new Map<Snapshot, SnapshotDecider>();
  const deciderOf = (snapshot: Snapshot): SnapshotDecider => {
    const decider = deciders.get(snapshot) ?? new SnapshotDecider(snapshot, resumable);
    deciders.set(snapshot, decider);
    return decider;
  };
  const known = new Map<string, DecisionChanges | undefined>();
  const old = new Map(
    before.results.map((result) => [namespacedName(result.placement.metadata), result.selected]),
  );
  return (key, cluster, move) => {
    if (!known.has(key))
      known.set(key, known.size < MAX_EXPLAINED ? changesOf(key, old.get(key) ?? []) : undefined);
    const changes = known.get(key);
    const list = move === 'gained' ? changes?.gained : changes?.lost;
    const found = list?.find((change) => change.cluster === cluster);
    const points = found?.points === undefined ? {} : { points: found.points };
    return { because: found?.because ?? '', causes: found?.causes ?? [], ...points };
  };

  function changesOf(key: string, selected: readonly string[]): DecisionChanges | undefined {
    const slash = key.indexOf('/');
    const ref = { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) };
    const decision = deciderOf(snapshotOf(key)).decide(ref);
    if (decision === undefined) return undefined;
    return decisionChanges({
      ...decision,
      before: selected,
      snapshotBefore: before.snapshot,
      trials,
    });
  }
}
