import type { World } from '../snapshot/world.ts';
import { applyWorldChanges } from './apply-world-change.ts';
import { clusterVerdict, isRefusing, taintFindings } from './cluster-verdict.ts';
import type { DecidedPlacement } from './cluster-verdict.ts';
import type { PairExplanation, TaintFinding } from './explanation.ts';
import { findSuggestions } from './find-suggestions.ts';
import type { SuggestionSubject } from './suggestion-subject.ts';

export interface PairSubject {
  readonly world: World;
  readonly decided: DecidedPlacement;
  readonly cluster: string;
  /** Schedules a world with one placement; used to try suggestions. */
  readonly decide: (world: World) => DecidedPlacement | undefined;
}

/** Why one cluster is selected by one placement or not, and what would flip a refusal. */
export function explainPair({ world, decided, cluster: name, decide }: PairSubject): PairExplanation {
  const { metadata } = decided.result.placement;
  const cluster = world.clusters.findLast((other) => other.metadata.name === name);
  const verdict = clusterVerdict(decided, name, cluster);
  const selected = verdict.kind === 'selected';
  return {
    placement: { namespace: metadata.namespace ?? '', name: metadata.name },
    cluster: name,
    selected,
    verdict,
    toleratedTaints: toleratedTaints(decided, name, verdict.kind),
    suggestions:
      selected || cluster === undefined
        ? []
        : findSuggestions({
            world,
            decided,
            cluster,
            verdict,
            before: decided.result.selected,
            decide,
            redecide: redecider(world, decided, decide),
          }),
  };
}

/** Decides the one placement again, changed, on the whole fleet. */
function redecider(
  world: World,
  { result: { placement } }: DecidedPlacement,
  decide: PairSubject['decide'],
): SuggestionSubject['redecide'] {
  return (changes, numberOfClusters) => {
    const { numberOfClusters: _, ...spec } = placement.spec ?? {};
    const asked = numberOfClusters === undefined ? spec : { ...spec, numberOfClusters };
    const changed = applyWorldChanges({ ...world, placements: [{ ...placement, spec: asked }] }, changes);
    return decide(changed)?.result.selected ?? [];
  };
}

/** Taints play a part only where the taint filter was reached. */
function toleratedTaints(
  { trace, now }: DecidedPlacement,
  cluster: string,
  verdict: PairExplanation['verdict']['kind'],
): readonly TaintFinding[] {
  if (!['selected', 'tainted', 'spread', 'outranked'].includes(verdict)) return [];
  return taintFindings(trace, cluster, now).filter((finding) => !isRefusing(finding));
}
