import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import {
  DECISION_GROUP_NAME_LABEL,
  PLACEMENT_LABEL,
  type PlacementDecision,
} from '@berth/ocm/kind/placement-decision';
import { groupBy } from '@berth/runtime/lists/group-by';
import { activeHold } from '../publish/approval/approval-code.ts';
import { ageSince, type Listed } from './listed.ts';

/** How many names of clusters a row has. */
const MAX_CLUSTERS = 3;

/**
 * Placements, how many clusters each has of how many, what is held, and what is wrong.
 * @param decisions the pages of these placements, and perhaps of others
 */
export function listPlacements(
  placements: readonly Placement[],
  decisions: readonly PlacementDecision[],
  nowMs: number,
): Listed {
  const clusters = clustersByPlacement(decisions);
  return {
    header: ['NAMESPACE', 'NAME', 'READY', 'CLUSTERS', 'HELD', 'AGE', 'REASON'],
    rows: placements.map((placement) => {
      const { metadata, spec } = placement;
      const selected = clusters.get(namespacedName(metadata)) ?? [];
      return [
        metadata.namespace ?? '',
        metadata.name,
        `${selected.length}/${spec?.numberOfClusters ?? 'all'}`,
        firstNames(selected),
        activeHold(placement)?.reason ?? '',
        ageSince(metadata.creationTimestamp, nowMs),
        placementProblem(placement.status?.conditions),
      ];
    }),
  };
}

/**
 * The columns of `clusteradm get placements`, with its spelling, which scripts read. The status and the reason are those of
 * PlacementSatisfied; of the first condition, as in clusteradm, while there is none. Names have their namespace where the
 * placements are of several.
 * Source: open-cluster-management.io/clusteradm `pkg/cmd/get/placement`.
 *
 * @param decisions the pages of these placements, and perhaps of others
 */
export function listPlacementsOfClusteradm(
  placements: readonly Placement[],
  decisions: readonly PlacementDecision[],
): Listed {
  const areInSeveralNamespaces = new Set(placements.map(({ metadata }) => metadata.namespace)).size > 1;
  const clusters = clustersByPlacement(decisions);
  return {
    header: ['NAME', 'STATUS', 'REASON', 'SELETEDCLUSTERS'],
    rows: placements.map(({ metadata, status }) => {
      const conditions = status?.conditions;
      const shown = findCondition(conditions, 'PlacementSatisfied') ?? conditions?.[0];
      return [
        areInSeveralNamespaces ? namespacedName(metadata) : metadata.name,
        shown?.status ?? '',
        shown?.reason ?? '',
        `[${(clusters.get(namespacedName(metadata)) ?? []).join(',')}]`,
      ];
    }),
  };
}

/** Why a placement does not have what it asks for; '' if it has. */
export function placementProblem(conditions: readonly Condition[] = []): string {
  const wrong = findCondition(conditions, 'PlacementMisconfigured');
  const satisfied = findCondition(conditions, 'PlacementSatisfied');
  if (wrong?.status === 'True') return textOf(wrong);
  if (satisfied === undefined) return 'not decided yet';
  return satisfied.status === 'True' ? '' : textOf(satisfied);
}

function textOf({ reason = '', message = '' }: Condition): string {
  return message === '' ? reason : `${reason}: ${message}`;
}

function firstNames(names: readonly string[]): string {
  const more = names.length - MAX_CLUSTERS;
  return [...names.slice(0, MAX_CLUSTERS), ...(more > 0 ? [`+${more}`] : [])].join(',');
}

/** By placement: the names of its clusters, sorted. */
function clustersByPlacement(
  decisions: readonly PlacementDecision[],
): ReadonlyMap<string, readonly string[]> {
  const pages = groupBy(decisions, ({ metadata: { namespace, labels } }) =>
    namespacedName({ namespace, name: labels?.[PLACEMENT_LABEL] ?? '' }),
  );
  const namesOf = ({ status }: PlacementDecision): readonly string[] =>
    status?.decisions?.map(({ clusterName }) => clusterName) ?? [];
  return new Map([...pages].map(([key, all]) => [key, all.flatMap(namesOf).sort()]));
}

/** A row for each cluster of each page of decisions. */
export function listDecisions(pages: readonly KubeObject[]): Listed {
  return {
    header: ['NAMESPACE', 'PLACEMENT', 'CLUSTER', 'GROUP', 'PAGE', 'REASON'],
    rows: (pages as unknown as readonly PlacementDecision[]).flatMap(({ metadata, status }) =>
      (status?.decisions ?? []).map(({ clusterName, reason }) => [
        metadata.namespace ?? '',
        metadata.labels?.[PLACEMENT_LABEL] ?? '',
        clusterName,
        metadata.labels?.[DECISION_GROUP_NAME_LABEL] ?? '',
        metadata.name,
        reason,
      ]),
    ),
  };
}
