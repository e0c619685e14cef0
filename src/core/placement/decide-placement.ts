import type { Instant } from '../model/rfc3339.ts';
import { compareInstants, epochMsOf } from '../model/rfc3339.ts';
import type { Bitset } from '../snapshot/bitset.ts';
import { hasBit, makeBitset, putBit, readBits } from '../snapshot/bitset.ts';
import type { Fleet } from '../snapshot/fleet.ts';
import { conditionsOf } from './conditions.ts';
import { cutGroups } from './decision-groups.ts';
import { feasibleClusters, isEmpty, matchingClusters } from './feasible.ts';
import type { ScoreInput } from './prioritize/prioritizer.ts';
import type { KeptScores, Scored } from './score-clusters.ts';
import { keepScores, scoreClusters } from './score-clusters.ts';
import type { DecisionGroup, ScheduleResult, ScheduleStatus } from './schedule-result.ts';
import type { CompiledPlacement, SchedulingIndex } from './scheduling-index.ts';
import { selectRanked } from './select-ranked.ts';
import { matchTolerations } from './taint-rules.ts';

/** What was decided for one placement, and from what: enough to answer every "why" without deciding again. */
export interface DecidedState {
  readonly compiled: CompiledPlacement;
  readonly result: ScheduleResult;
  /** The last stage that was passed: a misconfiguration ends the decision at its stage. */
  readonly stage: 'skipped' | 'none' | 'predicate' | 'taints' | 'done';
  /** Some cluster was available. */
  readonly hadAvailable: boolean;
  /** Undefined unless the taints were passed. */
  readonly feasible: Bitset | undefined;
  /** This placement's decisions of before. */
  readonly prior: Uint32Array;
  readonly kept: KeptScores;
  /** Selected clusters in rank order. */
  readonly selected: Uint32Array;
  /** The clusters that the decision records; differs from `selected` when the groups are misconfigured. */
  readonly recorded: Uint32Array;
}

/** How other placements' decisions stand: counts without this placement's own, or scores kept from an earlier decision. */
export interface DecisionBasis {
  readonly prior: Uint32Array;
  readonly counts: Int32Array;
  readonly most: number;
  readonly kept?: KeptScores | undefined;
}

const NOBODY = new Uint32Array(0);
const SUCCESS: ScheduleStatus = { code: 'Success', plugin: '', message: '' };

/** Decides one placement: candidates, filters, scores, selection, groups, conditions. */
export function decidePlacement(
  index: SchedulingIndex,
  compiled: CompiledPlacement,
  basis: DecisionBasis,
): DecidedState {
  const { prior } = basis;
  const { policy, predicate, tolerations } = compiled;
  const stopped = (stage: DecidedState['stage'], status: ScheduleStatus, feasible?: Bitset): DecidedState =>
    finish(index, { compiled, stage, status, feasible, prior });
  if (compiled.skipped) return skip(compiled, prior);
  if (predicate.problem !== undefined && compiled.eligibility.count > 0)
    return stopped('none', misconfigured('Predicate', predicate.problem));
  if (tolerations.problem !== undefined && !isEmpty(matchingClusters(compiled)))
    return stopped('predicate', misconfigured('TaintToleration', tolerations.problem));
  const feasible = feasibleClusters(compiled, prior);
  if (!policy.ok) return stopped('taints', misconfigured('', policy.error), feasible);
  const { scratch, everyCluster } = index;
  const floats = scratch.floats.bind(scratch);
  markDecided(scratch.marks, prior, 1);
  const input = scoreInput(index, scratch.marks, basis);
  const kept = basis.kept ?? keepScores(policy.prioritizers, { ...input, clusters: everyCluster });
  const clusters = scratch.clusters.subarray(0, readBits(feasible, scratch.clusters));
  const { totals, expired } = scoreClusters(policy.prioritizers, { ...input, clusters }, kept, floats);
  markDecided(scratch.marks, prior, 0);
  const { limit } = compiled;
  const { positions, spread } = selectRanked({ compiled, fleet: index.fleet, clusters, totals, limit });
  const selected = new Uint32Array(positions.length);
  const scores = new Array<number>(positions.length);
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i] as number;
    selected[i] = clusters[position] as number;
    scores[i] = totals[position] as number;
  }
  const status = expired.length === 0 ? SUCCESS : expiryWarning(expired);
  return finish(index, { compiled, stage: 'done', status, feasible, prior, kept, spread, selected, scores });
}

function expiryWarning(expired: Scored['expired']): ScheduleStatus {
  const { plugin, objects } = expired.at(-1) as Scored['expired'][number];
  return { code: 'Warning', plugin, message: `AddOnPlacementScores ${objects.join(' ')} expired` };
}

/** Sets or clears a byte per cluster that was decided before; clusters that are gone have none. */
export function markDecided(marks: Uint8Array, prior: Uint32Array, mark: 0 | 1): void {
  for (let i = 0; i < prior.length; i++)
    if ((prior[i] as number) < marks.length) marks[prior[i] as number] = mark;
}

/** What prioritizers see of the index. */
export function scoreInput(
  index: SchedulingIndex,
  decided: Uint8Array,
  basis: Pick<DecisionBasis, 'counts' | 'most'>,
): Omit<ScoreInput, 'clusters'> {
  const { fleet, now } = index;
  return {
    nameOf: (cluster) => fleet.names[cluster] as string,
    amounts: (resource) => fleet.amounts(resource),
    addOnScore: (cluster, name) => fleet.scoresOf(fleet.names[cluster] as string).get(name),
    decided,
    decisionCounts: basis.counts,
    mostDecisions: basis.most,
    now,
  };
}

interface Outcome {
  readonly compiled: CompiledPlacement;
  readonly stage: DecidedState['stage'];
  readonly status: ScheduleStatus;
  readonly feasible?: Bitset | undefined;
  readonly prior: Uint32Array;
  readonly kept?: KeptScores;
  readonly selected?: Uint32Array;
  readonly scores?: readonly number[];
  readonly spread?: ScheduleResult['spread'];
}

function finish(index: SchedulingIndex, outcome: Outcome): DecidedState {
  const { compiled, stage, prior, selected = NOBODY, scores = [], spread } = outcome;
  const { fleet } = index;
  const groups = groupsOf(index, compiled, { selected, scores });
  const status = typeof groups === 'string' ? misconfigured('', groups) : outcome.status;
  const asked = Number.isFinite(compiled.limit) ? compiled.limit : selected.length;
  const unscheduled = stage === 'done' ? Math.max(0, asked - selected.length) : 0;
  const conditions = conditionsOf({
    status,
    eligibility: compiled.eligibility,
    wantedSets: compiled.placement.spec?.clusterSets ?? [],
    selectedCount: selected.length,
    unscheduled,
  });
  const satisfied = conditions.at(-1)?.status === 'True';
  return {
    compiled,
    stage,
    hadAvailable: compiled.eligibility.count > 0,
    feasible: outcome.feasible,
    prior,
    kept: outcome.kept ?? new Map(),
    selected,
    recorded: typeof groups === 'string' ? NOBODY : selected,
    result: {
      placement: compiled.placement,
      outcome: status.code === 'Misconfigured' ? 'misconfigured' : satisfied ? 'scheduled' : 'unsatisfied',
      status,
      selected: namesOf(selected, fleet),
      selectedScores: scores,
      unscheduled,
      groups: typeof groups === 'string' ? [] : groups,
      conditions,
      requeueAtMs: stage === 'done' ? requeueAtMs(index, compiled, prior) : undefined,
      ...(spread === undefined ? {} : { spread }),
    },
  };
}

function skip(compiled: CompiledPlacement, prior: Uint32Array): DecidedState {
  return {
    compiled,
    stage: 'skipped',
    hadAvailable: compiled.eligibility.count > 0,
    feasible: undefined,
    prior,
    kept: new Map(),
    selected: NOBODY,
    recorded: prior,
    result: {
      ...{
        placement: compiled.placement,
        outcome: 'skipped',
        status: SUCCESS,
        selected: [],
        selectedScores: [],
      },
      ...{ unscheduled: 0, groups: [], conditions: [], requeueAtMs: undefined },
    },
  };
}

/** The groups, or what is wrong with the strategy. */
function groupsOf(
  { fleet }: SchedulingIndex,
  { groups: plan }: CompiledPlacement,
  { selected, scores }: { readonly selected: Uint32Array; readonly scores: readonly number[] },
): readonly DecisionGroup[] | string {
  if (!plan.ok) return plan.error;
  if (!plan.byScore) return cutGroups(plan, fleet, inNameOrder(selected, fleet));
  const order = Array.from(selected.keys()).sort(
    (a, b) =>
      (scores[b] as number) - (scores[a] as number) || (selected[a] as number) - (selected[b] as number),
  );
  return cutGroups(
    plan,
    fleet,
    Uint32Array.from(order, (at) => selected[at] as number),
  );
}

function namesOf(clusters: Uint32Array, { names }: Fleet): string[] {
  const list = new Array<string>(clusters.length);
  for (let i = 0; i < clusters.length; i++) list[i] = names[clusters[i] as number] as string;
  return list;
}

function inNameOrder(clusters: Uint32Array, fleet: Fleet): Uint32Array {
  if (clusters.length < 32) return clusters.toSorted();
  const marks = makeBitset(fleet.size);
  for (let i = 0; i < clusters.length; i++) putBit(marks, clusters[i] as number, true);
  const ordered = new Uint32Array(clusters.length);
  readBits(marks, ordered);
  return ordered;
}

/** The earliest end of a toleration that keeps a cluster of before tolerated. */
function requeueAtMs(
  { fleet, now }: SchedulingIndex,
  { tolerations }: CompiledPlacement,
  prior: Uint32Array,
): number | undefined {
  if (!tolerations.timed) return undefined;
  let first: Instant | undefined;
  for (const cluster of prior) {
    if (cluster >= fleet.size || !hasBit(tolerations.passDecided, cluster)) continue;
    for (const taint of fleet.cluster(cluster).spec?.taints ?? []) {
      if (taint.effect === 'PreferNoSelect' || taint.effect === 'NoSelectIfNew') continue;
      const verdict = matchTolerations(taint, tolerations.tolerations, now);
      if (verdict.verdict !== 'tolerated' || verdict.until === undefined) continue;
      if (first === undefined || compareInstants(verdict.until, first) < 0) first = verdict.until;
    }
  }
  return first === undefined ? undefined : epochMsOf(first);
}

function misconfigured(plugin: string, message: string): ScheduleStatus {
  return { code: 'Misconfigured', plugin, message };
}
