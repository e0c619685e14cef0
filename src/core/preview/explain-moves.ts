import { decisionChanges } from '@berth/placement/explain/decision-changes';
import { explainPlacement } from '@berth/placement/explain/explain-placement';
import { decisionTable, type DecisionTable } from '@berth/placement/explain/text/decision-table';
import { CauseTrials, ResumableDecider } from '@berth/placement/explain/verdict/resumable-decider';
import { SnapshotDecider } from '@berth/placement/explain/verdict/decide-in-snapshot';
import type { DecisionChanges } from '@berth/placement/explain/verdict/explanation';
import { findCluster } from '@berth/placement/explain/snapshot/snapshot-lookup';
import { clusterVerdict, type DecidedPlacement } from '@berth/placement/explain/verdict/cluster-verdict';
import { plainReason } from './plain-reasons.ts';
import type { PlanJudges, PlanSide } from './plan-input.ts';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

/**
 * Each explanation repeats the decision without a change, so only the first changed placements of a huge change are
 * explained.
 */
const MAX_EXPLAINED = 100;

/** A page with more tables is not read. Each table reads every cluster, so that a huge fleet has fewer. */
const [MAX_TABLES, MAX_TABLE_CLUSTERS] = [20, 20_000] as const;

/** What explains decisions. Both keep results for later plans. */
interface MoveReaders {
  readonly trials: CauseTrials;
  readonly resumable: ResumableDecider;
}

interface Explained extends DecisionChanges {
  readonly decided: DecidedPlacement;
  readonly snapshot: Snapshot;
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
): Pick<PlanJudges, 'explain' | 'tables'> {
  const deciders = new Map<Snapshot, SnapshotDecider>();
  const deciderOf = (snapshot: Snapshot): SnapshotDecider => {
    const decider = deciders.get(snapshot) ?? new SnapshotDecider(snapshot, resumable);
    deciders.set(snapshot, decider);
    return decider;
  };
  const known = new Map<string, Explained | undefined>();
  const tables: DecisionTable[] = [];
  const old = new Map(
    before.results.map((result) => [namespacedName(result.placement.metadata), result.selected]),
  );
  const explain: PlanJudges['explain'] = (key, cluster, move) => {
    if (!known.has(key))
      known.set(key, known.size < MAX_EXPLAINED ? changesOf(key, old.get(key) ?? []) : undefined);
    const explained = known.get(key);
    const found = explained?.[move].find((change) => change.cluster === cluster);
    if (explained === undefined || found === undefined) return { because: '', causes: [] };
    const { because, causes, points } = found;
    const { decided, snapshot } = explained;
    const why = plainReason(causes, {
      ...{ before: before.snapshot, after: snapshot, placement: key, cluster },
      verdict: clusterVerdict(decided, cluster, findCluster(snapshot, cluster)),
    });
    return { because, causes, ...(why !== undefined && { why }), ...(points !== undefined && { points }) };
  };
  return { explain, tables: () => tables };

  function changesOf(key: string, selected: readonly string[]): Explained | undefined {
    const slash = key.indexOf('/');
    const ref = { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) };
    const decision = deciderOf(snapshotOf(key)).decide(ref);
    if (decision === undefined) return undefined;
    const changes = decisionChanges({
      ...decision,
      before: selected,
      snapshotBefore: before.snapshot,
      trials,
    });
    const { length: clusters } = decision.snapshot.clusters;
    if (tables.length < Math.min(MAX_TABLES, MAX_TABLE_CLUSTERS / clusters))
      tables.push(decisionTable(explainPlacement(decision.snapshot, decision.decided, changes)));
    return { ...decision, ...changes };
  }
}
