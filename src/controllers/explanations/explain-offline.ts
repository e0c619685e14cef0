import { InputError } from '@berth/runtime/errors';
import type { WavesExplanation } from '@berth/placement/explain/verdict/explanation';
import type {
  DecisionChanges,
  PairExplanation,
  PlacementExplanation,
} from '@berth/placement/explain/verdict/explanation';
import { decisionChanges } from '@berth/placement/explain/decision-changes';
import { describePair } from '@berth/placement/explain/text/describe-pair';
import { describePlacement } from '@berth/placement/explain/text/describe-placement';
import { explainPair } from '@berth/placement/explain/explain-pair';
import {
  clusterWaves,
  explainPairOfOthers,
  explainPlacement,
  explainPlacementOfOthers,
  placementHold,
} from '@berth/placement/explain/explain-placement';
import { recordedClusters } from '@berth/placement/explain/snapshot/recorded-decisions';
import type { PlacementRef } from '@berth/placement/explain/snapshot/snapshot-change';
import type { Placement } from '@berth/ocm/kind/placement';
import { namespacedName } from '@berth/kube/model/object-ref';
import { isOfOtherScheduler } from '../inventory/schedulable-placement.ts';
import type { Problem } from '@berth/runtime/problem/problem';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { closestName } from '@berth/runtime/text/closest-name';
import { decideInSnapshot, type SnapshotDecision } from '@berth/placement/explain/verdict/decide-in-snapshot';
import { type CommandContext, type OfflineSource, readOfflineSnapshot } from './offline-snapshot.ts';

const NO_CLUSTER_IS_KNOWN = 'No cluster is known. Clusters that are not in Git need --hub.';

export interface ExplainRequest {
  readonly cluster?: string | undefined;
  readonly from: string;
  readonly ref?: string | undefined;
  readonly since?: string | undefined;
  readonly case?: string | undefined;
  readonly caseName?: string | undefined;
  readonly now?: string | undefined;
}

interface Assumed {
  /** What the result rests on that was not declared, one sentence each. */
  readonly assumed: readonly string[];
}

export interface OfflineExplanation {
  readonly explanation: (PlacementExplanation | PairExplanation) & Partial<Assumed>;
  /** The explanation as text. */
  readonly lines: readonly string[];
  readonly problems: readonly Problem[];
}

/**
 * Decides from files, a commit or a recorded case. Explains one placement, or one placement and cluster if a cluster is
 * named.
 */
export async function explainOffline(
  ref: PlacementRef,
  request: ExplainRequest,
  context: CommandContext,
): Promise<OfflineExplanation> {
  const source: OfflineSource = {
    from: request.from,
    ref: request.ref,
    caseFile: request.case,
    caseName: request.caseName,
    now: request.now ?? new Date().toISOString(),
  };
  const { snapshot, problems, assumed } = await readOfflineSnapshot(source, context);
  const before = await snapshotBefore(source, request, context);
  const found = explainInSnapshot(snapshot, ref, { cluster: request.cluster, before });
  const { explanation } = found;
  const isBlind = snapshot.clusters.length === 0 && request.case === undefined;
  const lines = isBlind ? [NO_CLUSTER_IS_KNOWN, ...found.lines] : found.lines;
  if (assumed.length === 0) return { explanation, lines, problems };
  return {
    explanation: { ...explanation, assumed },
    lines: [...lines, '', 'Assumed:', ...assumed.map((line) => `  ${line}`)],
    problems,
  };
}

interface ExplanationAsked {
  readonly cluster?: string | undefined;
  readonly before?: Snapshot | undefined;
  /** Which placements Berth decides: those with its annotation, or all. Default: all. */
  readonly decides?: 'own' | 'all' | undefined;
  /** The waves in which ApplicationSets use the placement. */
  readonly waves?: readonly WavesExplanation[] | undefined;
}

/**
 * Explains one placement of a snapshot, or one placement and cluster.
 * @throws InputError when there is no such placement
 */
export function explainInSnapshot(
  given: Snapshot,
  ref: PlacementRef,
  ask: ExplanationAsked,
): Omit<OfflineExplanation, 'problems'> {
  const others = ask.decides === 'own' ? placementOfOthers(given, ref) : undefined;
  if (others !== undefined) return explainOthers(given, others, ask);
  const decision = decideInSnapshot(given, ref);
  if (decision === undefined) throw unknownPlacement(given, ref);
  const { placement, selected } = decision.decided.result;
  const held = placementHold(given, placement, selected);
  if (ask.cluster !== undefined) {
    const pair = explainPair({ ...decision, cluster: ask.cluster });
    return pairResult({ ...pair, ...(held && { held }) }, ask.waves);
  }
  const changes = changesSince(decision, ref, ask.before);
  const whole = explainPlacement(decision.snapshot, decision.decided, changes);
  return placementResult({ ...whole, ...(held && { held }) }, ask.waves);
}

type Waves = readonly WavesExplanation[] | undefined;

function placementResult(found: PlacementExplanation, waves: Waves): Omit<OfflineExplanation, 'problems'> {
  const explanation = waves === undefined || waves.length === 0 ? found : { ...found, waves };
  return { explanation, lines: describePlacement(explanation) };
}

function pairResult(found: PairExplanation, waves: Waves): Omit<OfflineExplanation, 'problems'> {
  const own = clusterWaves(waves ?? [], found.cluster);
  const explanation = own.length === 0 ? found : { ...found, waves: own };
  return { explanation, lines: describePair(explanation) };
}

function placementOfOthers(snapshot: Snapshot, ref: PlacementRef): Placement | undefined {
  const key = `${ref.namespace}/${ref.name}`;
  return snapshot.placements.find((one) => namespacedName(one.metadata) === key && isOfOtherScheduler(one));
}

function explainOthers(
  snapshot: Snapshot,
  placement: Placement,
  { cluster, waves }: ExplanationAsked,
): Omit<OfflineExplanation, 'problems'> {
  return cluster === undefined
    ? placementResult(explainPlacementOfOthers(snapshot, placement), waves)
    : pairResult(explainPairOfOthers(snapshot, placement, cluster), waves);
}

/** The changes since the earlier snapshot if there is one, otherwise since the recorded decisions. */
function changesSince(
  { snapshot, decided }: SnapshotDecision,
  ref: PlacementRef,
  before: Snapshot | undefined,
): DecisionChanges | undefined {
  const selected =
    before === undefined
      ? recordedClusters(snapshot, ref)
      : (decideInSnapshot(before, ref)?.decided.result.selected ?? []);
  if (before === undefined && selected.length === 0) return undefined;
  return decisionChanges({ snapshot, decided, before: selected, snapshotBefore: before });
}

async function snapshotBefore(
  source: OfflineSource,
  { since }: ExplainRequest,
  context: CommandContext,
): Promise<Snapshot | undefined> {
  if (since === undefined) return undefined;
  return (await readOfflineSnapshot({ ...source, ref: since }, context)).snapshot;
}

function unknownPlacement(snapshot: Snapshot, { namespace, name }: PlacementRef): InputError {
  const names = snapshot.placements.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
  const near = closestName(`${namespace}/${name}`, names);
  return new InputError('there is no such Placement', {
    code: 'explain.placement',
    subject: `Placement ${namespace}/${name}`,
    hint: near === undefined ? knownNames(names) : `did you mean ${near}?`,
  });
}

function knownNames(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `there are ${names.length}: ${names.slice(0, 5).join(', ')}`;
}
