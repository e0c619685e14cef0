import { compareInstants, formatRfc3339 } from '@berth/kube/model/rfc3339';
import type { Taint } from '@berth/ocm/kind/managed-cluster';
import type { Placement, ScoreCoordinate, Toleration } from '@berth/ocm/kind/placement';
import { tolerationEnd, toleratesTaint } from '../../filter/toleration-class.ts';
import type { ScheduleResult } from '../../result/schedule-result.ts';

/** Tables of decisions have narrow columns. */
const MAX_CHARS = 120;

/**
 * Why a decision selects a cluster, in one line for the `reason` of a PlacementDecision. A page is written again if the
 * text changes. So it has no scores and no ranks, and the time does not change it.
 * @returns the reason for a cluster with these taints
 */
export function selectionReason({
  placement,
  unscheduled,
}: Pick<ScheduleResult, 'placement' | 'unscheduled'>): (taints: readonly Taint[]) => string {
  const { spec } = placement;
  const basis = basisOf(spec?.numberOfClusters, unscheduled);
  const more = [namedPrioritizers(spec), spreadKeys(spec)].filter((text) => text !== '');
  return (taints) => cut([basis, ...taintTexts(taints, spec?.tolerations ?? []), ...more].join('; '));
}

/** Why a cluster that the decision does not select is still on its page. */
export const LEAVING_REASON = 'not selected any more; stays until its replacement is ready';

function basisOf(wanted: number | undefined, unscheduled: number): string {
  if (wanted === undefined) return 'every matching cluster is selected';
  if (unscheduled > 0) return 'matches; fewer clusters match than are wanted';
  return wanted === 1 ? 'the best matching cluster' : `one of the best ${wanted} matching clusters`;
}

type Spec = Placement['spec'];

/** Prioritizers count only where some of the matching clusters are selected. */
function namedPrioritizers(spec: Spec): string {
  if (spec?.numberOfClusters === undefined) return '';
  const named = (spec.prioritizerPolicy?.configurations ?? []).filter(({ weight = 1 }) => weight !== 0);
  const names = named.map(({ scoreCoordinate }) => prioritizerName(scoreCoordinate)).filter(Boolean);
  return names.length === 0 ? '' : `by ${names.join(', ')}`;
}

function prioritizerName({ type, builtIn = '', addOn }: ScoreCoordinate = {}): string {
  return type === 'AddOn' ? `${addOn?.resourceName ?? ''}/${addOn?.scoreName ?? ''}` : builtIn;
}

function spreadKeys(spec: Spec): string {
  if (spec?.numberOfClusters === undefined) return '';
  const keys = (spec.spreadPolicy?.spreadConstraints ?? []).map(({ topologyKey }) => topologyKey);
  return keys.length === 0 ? '' : `spread over ${keys.join(', ')}`;
}

/** The taints that are tolerated, or that refuse new clusters only. */
function taintTexts(taints: readonly Taint[], tolerations: readonly Toleration[]): readonly string[] {
  return taints.flatMap((taint) => {
    if (taint.effect === 'PreferNoSelect') return [];
    const matching = tolerations.filter((toleration) => toleratesTaint(toleration, taint));
    if (matching.length > 0) return [`tolerates ${taint.key}${untilText(matching, taint)}`];
    return taint.effect === 'NoSelectIfNew' ? [`was here before ${taint.key}`] : [];
  });
}

/** The end of the longest toleration, so that the text stays the same while shorter ones end. */
function untilText(tolerations: readonly Toleration[], taint: Taint): string {
  const ends = tolerations.flatMap((toleration) => tolerationEnd(toleration, taint) ?? []);
  const last = ends.toSorted(compareInstants).at(-1);
  return last === undefined || ends.length < tolerations.length ? '' : ` until ${formatRfc3339(last)}`;
}

function cut(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS - 1)}…`;
}
