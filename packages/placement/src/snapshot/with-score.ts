import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import { ADDON_PLACEMENT_SCORE, apiVersionOf } from '@berth/kube/model/kinds';

/** One score that a cluster would report. */
export interface ReportedScore {
  readonly cluster: string;
  readonly resourceName: string;
  readonly scoreName: string;
  readonly value: number;
}

/**
 * The object of an add-on after it reported this score again: its other scores stay, and none of
 * them expires.
 * @param recorded the object before; undefined if the cluster has none
 */
export function withScore(
  recorded: AddOnPlacementScore | undefined,
  { cluster, resourceName, scoreName, value }: ReportedScore,
): AddOnPlacementScore {
  const others = (recorded?.status?.scores ?? []).filter(({ name }) => name !== scoreName);
  return {
    apiVersion: apiVersionOf(ADDON_PLACEMENT_SCORE),
    kind: 'AddOnPlacementScore',
    ...recorded,
    metadata: { ...recorded?.metadata, name: resourceName, namespace: cluster },
    status: { ...recorded?.status, validUntil: undefined, scores: [...others, { name: scoreName, value }] },
  };
}
