import type { EventContent } from '@berth/kube/model/event';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { type Placement, SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';

/** Objects of one commit come one after the other, and a controller needs a moment. */
const GRACE_MS = 120_000;

interface Judged {
  readonly metadata: KubeObject['metadata'];
  readonly status?:
    | { readonly phase?: string | undefined; readonly conditions?: readonly Condition[] | undefined }
    | undefined;
}

/**
 * The Event of a placement that nobody decides, so that it does not stay as it is without a word.
 *
 * @param hasDecisions whether the hub has PlacementDecisions of it
 * @param decides which placements Berth decides: all, or those with its annotation
 * @returns undefined for a placement that somebody has decided, or that Berth decides
 */
export function undecidedEvent(
  placement: Placement,
  hasDecisions: boolean,
  { decides, nowMs }: { readonly decides: 'own' | 'all'; readonly nowMs: number },
): EventContent | undefined {
  const { annotations = {} } = placement.metadata;
  const isDisabled = annotations[SCHEDULING_DISABLE_ANNOTATION] === 'true';
  const isOwn = annotations[SCHEDULER_ANNOTATION] === 'berth';
  if (hasDecisions || isOwn || (decides === 'all' && !isDisabled) || !isSilent(placement, nowMs))
    return undefined;
  const what = isDisabled
    ? `Its annotation ${SCHEDULING_DISABLE_ANNOTATION} keeps every scheduler away: remove it.`
    : `Start OCM's placement controller, or let Berth decide it with the annotation ${SCHEDULER_ANNOTATION}: berth.`;
  return warning('Undecided', 'Decide', `Nobody decides this placement, so it selects no cluster. ${what}`);
}

/** The Event of a GitOpsCluster on which no controller acts. */
export function unattendedGitOpsEvent(object: KubeObject, nowMs: number): EventContent | undefined {
  if (!isSilent(object, nowMs)) return undefined;
  return warning(
    'ControllerNotRunning',
    'RegisterClusters',
    'Nothing registers the clusters of this GitOpsCluster in Argo CD. Start berth serve --argocd-cluster-secrets, or the controller of OCM that comes with GitOpsClusters.',
  );
}

/** No controller has written a status in the time that one needs. */
function isSilent({ metadata, status }: Judged, nowMs: number): boolean {
  const { creationTimestamp, deletionTimestamp } = metadata;
  const hasStatus = (status?.conditions ?? []).length > 0 || (status?.phase ?? '') !== '';
  return (
    deletionTimestamp === undefined && !hasStatus && Date.parse(creationTimestamp ?? '') + GRACE_MS <= nowMs
  );
}

function warning(reason: string, action: string, note: string): EventContent {
  return { type: 'Warning', reason, action, note };
}
