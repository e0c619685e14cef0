import { type Placement, SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';

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
