import type { Snapshot } from '../snapshot/snapshot.ts';
import { clusterVerdict, isRefusing, taintFindings } from './verdict/cluster-verdict.ts';
import type { DecidedPlacement } from './verdict/cluster-verdict.ts';
import type { PairExplanation, TaintFinding } from './verdict/explanation.ts';
import { findSuggestions } from './suggest/find-suggestions.ts';
import { placementHints } from './placement-hints.ts';
import { findCluster } from './snapshot/snapshot-lookup.ts';

export interface PairSubject {
  readonly snapshot: Snapshot;
  readonly decided: DecidedPlacement;
  readonly cluster: string;
  /**
   * False: no suggestions, for lists of many clusters, since each suggestion is tried by deciding
   * again.
   */
  readonly suggest?: boolean | undefined;
}

/** Why one placement selects a cluster or not, and which changes would select it. */
export function explainPair({
  snapshot,
  decided,
  cluster: name,
  suggest = true,
}: PairSubject): PairExplanation {
  const { metadata } = decided.result.placement;
  const cluster = findCluster(snapshot, name);
  const verdict = clusterVerdict(decided, name, cluster);
  const selected = verdict.kind === 'selected';
  const before = decided.result.selected;
  return {
    placement: { namespace: metadata.namespace ?? '', name: metadata.name },
    cluster: name,
    selected,
    verdict,
    toleratedTaints: toleratedTaints(decided, name, verdict.kind),
    suggestions:
      selected || cluster === undefined || !suggest
        ? []
        : findSuggestions({ snapshot, decided, cluster, verdict, before }),
    hints: verdict.kind === 'misconfigured' ? placementHints(snapshot, decided.result.placement) : [],
  };
}

/** Taints are listed only if the earlier filters passed. */
function toleratedTaints(
  { trace, now }: DecidedPlacement,
  cluster: string,
  verdict: PairExplanation['verdict']['kind'],
): readonly TaintFinding[] {
  if (!['selected', 'tainted', 'spread', 'outranked'].includes(verdict)) return [];
  return taintFindings(trace, cluster, now).filter((finding) => !isRefusing(finding));
}
