import { LEASE } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { type Placement, SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';
import { InputError } from '@berth/runtime/errors';
import {
  CONTROLLER_LABEL,
  placementsDecided,
} from '../../core/registration/install/controller-announcement.ts';
import { DEFAULT_NAMESPACE } from '../../core/sync/apply-set.ts';

/** The copy of a placement that decisions see, if it differs from the placement. */
const schedulableOf = new WeakMap<Placement, Placement>();

/**
 * The placement without the annotation that disables scheduling, if Berth itself set it for other
 * schedulers.
 */
export function withSchedulingEnabled(placement: Placement): Placement {
  const annotations = placement.metadata.annotations;
  if (
    annotations?.[SCHEDULER_ANNOTATION] !== 'berth' ||
    annotations[SCHEDULING_DISABLE_ANNOTATION] === undefined
  )
    return placement;
  let known = schedulableOf.get(placement);
  if (known === undefined) {
    const { [SCHEDULING_DISABLE_ANNOTATION]: _disabled, ...rest } = annotations;
    known = { ...placement, metadata: { ...placement.metadata, annotations: rest } };
    schedulableOf.set(placement, known);
  }
  return known;
}

/** On a hub with other schedulers, a placement without the annotation of Berth belongs to them. This disables it for Berth. */
export function withForeignDisabled(placement: Placement): Placement {
  const annotations = placement.metadata.annotations ?? {};
  if (annotations[SCHEDULER_ANNOTATION] === 'berth') return withSchedulingEnabled(placement);
  if (annotations[SCHEDULING_DISABLE_ANNOTATION] === 'true') return placement;
  let known = schedulableOf.get(placement);
  if (known === undefined) {
    const disabled = { ...annotations, [SCHEDULING_DISABLE_ANNOTATION]: 'true' };
    known = { ...placement, metadata: { ...placement.metadata, annotations: disabled } };
    schedulableOf.set(placement, known);
  }
  return known;
}

/**
 * Whether another scheduler decides the placement: it has no annotation of Berth, and scheduling is not
 * disabled.
 */
export function isOfOtherScheduler({ metadata: { annotations } }: Placement): boolean {
  return (
    annotations?.[SCHEDULER_ANNOTATION] !== 'berth' && annotations?.[SCHEDULING_DISABLE_ANNOTATION] !== 'true'
  );
}

/** The Leases in which controllers say what they write to a hub. */
export const CONTROLLER_LEASES = { namespace: DEFAULT_NAMESPACE, labelSelector: CONTROLLER_LABEL } as const;

/**
 * Which placements on a hub Berth decides: those of Git and those with its annotation, or all. A controller that decides all
 * says so on the hub, because its placements have no such annotation. Without a controller that says anything, or without the
 * right to read that, it is the first.
 */
export async function readDecidedPlacements(hub: Pick<KubeApi, 'list'>): Promise<'own' | 'all'> {
  try {
    return placementsDecided((await hub.list(LEASE, CONTROLLER_LEASES)).items);
  } catch (error) {
    if (error instanceof InputError) return 'own';
    throw error;
  }
}
