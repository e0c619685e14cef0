import { type Placement, SCHEDULING_DISABLE_ANNOTATION } from '../../core/model/kind/placement.ts';
import { SCHEDULER_ANNOTATION } from '../../core/publish/approval/publish-annotations.ts';

/** The copy of a placement that decisions see, if it differs from the placement. */
const schedulableOf = new WeakMap<Placement, Placement>();

/**
 * Berth sets the annotation that disables scheduling to keep other schedulers away. This removes it, so that Berth
 * itself decides the placement.
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

/** On a hub with other schedulers, a placement without the mark of Berth belongs to them. This disables it for Berth. */
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
 * Whether a placement has neither the mark of Berth nor the annotation that disables scheduling. On a hub with other
 * schedulers it belongs to them.
 */
export function isOfOtherScheduler({ metadata: { annotations } }: Placement): boolean {
  return (
    annotations?.[SCHEDULER_ANNOTATION] !== 'berth' && annotations?.[SCHEDULING_DISABLE_ANNOTATION] !== 'true'
  );
}
